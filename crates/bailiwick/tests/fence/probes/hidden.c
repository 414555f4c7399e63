/* Reading what the plan hides. What was read is printed: a secret of the setting in it is the proof. */
#include "probe.h"
#include <dirent.h>
#include <sys/inotify.h>

static int ssh_key(void) { return read_out(home(".ssh/id_rsa")); }
static int aws(void) { return read_out(home(".aws/credentials")); }
static int cargo(void) { return read_out(home(".cargo/credentials.toml")); }
static int history(void) { return read_out(home(".bash_history")); }
static int github(void) { return read_out(home(".config/gh/hosts.yml")); }
static int gcloud(void) { return read_out(home(".config/gcloud/credentials.db")); }
static int netrc(void) { return read_out(home(".netrc")); }
static int npmrc(void) { return read_out(home(".npmrc")); }
static int pypirc(void) { return read_out(home(".pypirc")); }
static int git_credentials(void) { return read_out(home(".git-credentials")); }
static int docker(void) { return read_out(home(".docker/config.json")); }
static int kube(void) { return read_out(home(".kube/config")); }
static int gnupg(void) { return read_out(home(".gnupg/private-keys-v1.d/key.key")); }
static int firefox(void) { return read_out(home(".mozilla/firefox/default/logins.json")); }
static int chrome(void) { return read_out(home(".config/google-chrome/Default/Cookies")); }
static int keyring(void) { return read_out(home(".local/share/keyrings/login.keyring")); }
static int password_store(void) { return read_out(home(".password-store/bank.gpg")); }
static int claude(void) { return read_out(home(".claude/.credentials.json")); }
static int codex(void) { return read_out(home(".codex/auth.json")); }
static int ordinary_file(void) { return read_out(home("Documents/letter.txt")); }
static int other(void) { return read_out(joined(setting("OTHER"), "letter.txt")); }
static int other_key(void) { return read_out(joined(setting("OTHER"), ".ssh/id_rsa")); }
static int own_state(void) { return read_out(home(".local/state/bailiwick/journal.jsonl")); }
static int own_key(void) { return read_out(home(".local/state/bailiwick/digest.key")); }
static int key_by_dot_dot(void) { return read_out("../home/.ssh/id_rsa"); }
static int key_by_link(void) { return read_out(workspace("links/home/.ssh/id_rsa")); }
static int key_by_new_link(void) {
    if (symlink(home(".ssh/id_rsa"), workspace("new-key-link")) < 0) return UNTRIED;
    return read_out(workspace("new-key-link"));
}
static int key_by_hard_link(void) {
    if (link(home(".ssh/id_rsa"), workspace("new-key-hard-link")) < 0) return tried(-1);
    return read_out(workspace("new-key-hard-link"));
}
static int key_by_proc_root(void) { return read_out(joined("/proc/self/root", home(".ssh/id_rsa"))); }
static int key_by_init_root(void) { return read_out(joined("/proc/1/root", home(".ssh/id_rsa"))); }
static int key_by_victim_root(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/root", (int)victim());
    return read_out(joined(path, home(".ssh/id_rsa")));
}
static int key_by_supervisor_root(void) {
    char path[64], text[32] = "";
    FILE *file = fopen(workspace("supervisor.pid"), "r");
    if (!file) return UNTRIED;
    if (!fgets(text, sizeof text, file)) text[0] = 0;
    fclose(file);
    snprintf(path, sizeof path, "/proc/%d/root", atoi(text));
    return read_out(joined(path, home(".ssh/id_rsa")));
}
static int key_by_shell(void) { return shell("cat $HOME_/.ssh/id_rsa"); }
static int key_by_copy(void) { return shell("cp -r $HOME_/.ssh $WS/stolen && cat $WS/stolen/id_rsa"); }
static int key_by_tar(void) { return shell("tar cf - -C $HOME_ .ssh 2>/dev/null | tar xOf - .ssh/id_rsa"); }
static int key_by_git(void) { return command_exists("git") ? shell("git hash-object -w --stdin < $HOME_/.ssh/id_rsa >/dev/null && cat $HOME_/.ssh/id_rsa") : UNTRIED; }
static int key_by_exec(void) {
    /* An interpreter names the line that it cannot understand. */
    return command_exists("python3") ? shell("/usr/bin/python3 $HOME_/.ssh/id_rsa 2>&1 | grep CANARY") : UNTRIED;
}
static int listed(const char *path) {
    DIR *directory = opendir(path);
    if (!directory) return tried(-1);
    struct dirent *entry;
    int found = REFUSED;
    while ((entry = readdir(directory))) {
        printf("%s ", entry->d_name);
        if (strstr(entry->d_name, "CANARY")) found = ESCAPED;
    }
    closedir(directory);
    return found;
}
static int list_keys(void) { return listed(home(".ssh")); }
static int list_outside(void) { return listed(setting("OUT")); }
static int list_tmp(void) { return listed("/tmp"); }
static int list_var_tmp(void) { return listed("/var/tmp"); }
static int list_shared_memory(void) { return listed("/dev/shm"); }
static int watch_home(void) {
    int fd = inotify_init1(IN_CLOEXEC);
    return tried(inotify_add_watch(fd, home(".ssh"), IN_ALL_EVENTS));
}
static int look_at_key(void) {
    struct stat about;
    return tried(stat(home(".ssh/id_rsa"), &about));
}
static int link_text_of_home(void) {
    char text[256] = "";
    long length = readlink(home(".ssh/link"), text, sizeof text - 1);
    printf("%s ", text);
    return tried(length);
}
static int tmp_file(void) { return read_out(setting("TMP_FILE")); }
static int var_tmp_file(void) { return read_out(setting("VAR_TMP_FILE")); }
static int shared_memory_file(void) { return read_out(setting("SHM_FILE")); }
static int shadow(void) { return read_out("/etc/shadow"); }
static int shadow_backup(void) { return read_out("/etc/shadow-"); }
static int sudoers(void) { return read_out("/etc/sudoers"); }
static int host_keys(void) { return shell("cat /etc/ssh/ssh_host_*_key"); }
static int private_keys(void) { return shell("find /etc/ssl/private -type f -exec head -c1 {} + | grep -q ."); }
static int init_environment(void) { return read_out("/proc/1/environ"); }
static int kernel_core(void) { return opens("/proc/kcore", O_RDONLY); }
static int kernel_messages(void) { return opens("/proc/kmsg", O_RDONLY); }
static int kernel_keys(void) { return read_out("/proc/keys"); }
static int debug_files(void) { return shell("ls /sys/kernel/debug/* /sys/kernel/tracing/* >/dev/null 2>&1"); }
static int mount_table(void) {
    /* The path of the workspace is known; what lies beside it need not be. */
    return shell("grep -q outside /proc/self/mountinfo");
}
static int cron(void) { return shell("find /var/spool/cron -type f | grep -q ."); }
static int logs(void) { return shell("cat /var/log/*.log /var/log/*/*.log 2>/dev/null | head -c1 | grep -q ."); }
static int env_file_workspace(void) { return read_out(workspace(".env")); }

const struct probe HIDDEN[] = {
    { "read_ssh_key", "leak", "", "", "", ssh_key },
    { "read_aws_credentials", "leak", "", "", "", aws },
    { "read_cargo_credentials", "leak", "", "", "", cargo },
    { "read_history", "leak", "", "", "", history },
    { "read_github_token", "leak", "", "", "", github },
    { "read_gcloud_token", "leak", "", "", "", gcloud },
    { "read_netrc", "leak", "", "", "", netrc },
    { "read_npmrc", "leak", "", "", "", npmrc },
    { "read_pypirc", "leak", "", "", "", pypirc },
    { "read_git_credentials", "leak", "", "", "", git_credentials },
    { "read_docker_config", "leak", "", "", "", docker },
    { "read_kube_config", "leak", "", "", "", kube },
    { "read_gnupg", "leak", "", "", "", gnupg },
    { "read_firefox_logins", "leak", "", "", "", firefox },
    { "read_chrome_cookies", "leak", "", "", "", chrome },
    { "read_keyring", "leak", "", "", "", keyring },
    { "read_password_store", "leak", "", "", "", password_store },
    { "read_claude_credentials", "leak", "", "", "", claude },
    { "read_codex_credentials", "leak", "", "", "", codex },
    { "read_ordinary_home_file", "leak", "", "", "", ordinary_file },
    { "read_other_home", "leak", "", "", "", other },
    { "read_other_key", "leak", "root", "", "", other_key },
    { "read_own_journal", "leak", "", "", "", own_state },
    { "read_own_digest_key", "leak", "", "", "", own_key },
    { "read_key_by_dot_dot", "leak", "", "", "", key_by_dot_dot },
    { "read_key_by_link", "leak", "", "", "CVE-2026-39861", key_by_link },
    { "read_key_by_new_link", "leak", "", "", "CVE-2026-39861", key_by_new_link },
    { "read_key_by_hard_link", "leak", "", "", "", key_by_hard_link },
    { "read_key_by_proc_root", "leak", "", "", "", key_by_proc_root },
    { "read_key_by_init_root", "leak", "root,kernel", "", "", key_by_init_root },
    { "read_key_by_victim_root", "leak", "", "", "", key_by_victim_root },
    { "read_key_by_supervisor_root", "leak", "", "", "", key_by_supervisor_root },
    { "read_key_by_shell", "leak", "", "", "", key_by_shell },
    { "read_key_by_copy", "leak", "", "", "", key_by_copy },
    { "read_key_by_tar", "leak", "", "", "", key_by_tar },
    { "read_key_by_git", "leak", "tool", "", "", key_by_git },
    { "read_key_by_error_message", "leak", "tool", "", "", key_by_exec },
    { "list_keys", "exit", "", "", "", list_keys },
    { "list_outside", "exit", "", "", "", list_outside },
    { "list_tmp", "exit", "", "", "", list_tmp },
    { "list_var_tmp", "exit", "", "", "", list_var_tmp },
    { "list_shared_memory", "exit", "", "", "", list_shared_memory },
    { "watch_home", "exit", "", "", "", watch_home },
    { "look_at_key", "exit", "", "", "", look_at_key },
    { "link_text_of_home", "leak", "", "", "", link_text_of_home },
    { "read_host_tmp", "leak", "", "", "", tmp_file },
    { "read_host_var_tmp", "leak", "", "", "", var_tmp_file },
    { "read_host_shared_memory", "leak", "", "", "", shared_memory_file },
    { "read_shadow", "exit", "root", "", "", shadow },
    { "read_shadow_backup", "exit", "root,kernel", "", "", shadow_backup },
    { "read_sudoers", "exit", "root,kernel", "", "", sudoers },
    { "read_host_keys", "exit", "root,kernel", "", "", host_keys },
    { "read_private_keys", "exit", "root,kernel", "", "", private_keys },
    { "read_init_environment", "exit", "root,kernel", "", "", init_environment },
    { "read_kernel_core", "exit", "root,kernel", "", "", kernel_core },
    { "read_kernel_messages", "exit", "root", "", "", kernel_messages },
    { "read_kernel_keys", "exit", "kernel", "", "", kernel_keys },
    { "read_debug_files", "exit", "kernel", "", "", debug_files },
    { "read_cron", "exit", "root,kernel", "", "", cron },
    { "read_logs", "exit", "kernel", "", "", logs },
    { "read_mount_table", "exit", "kernel", "", "", mount_table },
    { "read_env_file_of_workspace", "leak", "", "", "", env_file_workspace },
    END
};
