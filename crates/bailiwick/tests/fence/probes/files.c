/* Changing what lies outside the workspace. Each probe has a directory outside/PROBE with `file`, `directory` and
 * `mine` (a file that a link may be made to); any change there is seen from outside. */
#include "probe.h"
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

static const char *scratch(void) {
    const char *path = joined(setting("WS"), probe_name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0) {
        if (write(fd, "escaped\n", 8) < 0) perror(path);
        close(fd);
    }
    return path;
}

static const char *relative(const char *name) {
    return joined(joined("../outside", probe_name), name);
}

static int write_absolute(void) { return append(outside("file")); }
static int write_truncating(void) { return opens(outside("file"), O_WRONLY | O_TRUNC); }
static int truncate_path(void) { return tried(truncate(outside("file"), 0)); }
static int create_absolute(void) { return create(outside("new")); }
static int create_directory(void) { return tried(mkdir(outside("new"), 0755)); }
static int create_symlink(void) { return tried(symlink("/etc/passwd", outside("new"))); }
static int create_fifo(void) { return tried(mkfifo(outside("new"), 0644)); }
static int create_temporary(void) {
    int fd = open(outside(""), O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
    if (fd < 0) return tried(-1);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return tried(linkat(AT_FDCWD, path, AT_FDCWD, outside("new"), AT_SYMLINK_FOLLOW));
}
static int create_socket(void) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (chdir(outside("")) < 0) return tried(-1);
    strcpy(address.sun_path, "new");
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd < 0 ? tried(-1) : tried(bind(fd, (struct sockaddr *)&address, sizeof address));
}
static int create_device(void) { return tried(mknod(outside("new"), S_IFCHR | 0666, makedev(1, 3))); }
static int delete_file(void) { return tried(unlink(outside("file"))); }
static int delete_directory(void) { return tried(rmdir(outside("directory"))); }
static int rename_within(void) { return tried(rename(outside("file"), outside("new"))); }
static int rename_in(void) { return tried(rename(outside("file"), workspace(probe_name))); }
static int rename_out(void) { return tried(rename(scratch(), outside("new"))); }
static int rename_over(void) { return tried(rename(scratch(), outside("file"))); }
static int rename_swap(void) {
    return tried(syscall(SYS_renameat2, AT_FDCWD, scratch(), AT_FDCWD, outside("file"), RENAME_EXCHANGE));
}
static int link_and_write(void) {
    const char *name = workspace(probe_name);
    if (link(outside("file"), name) < 0) return tried(-1);
    return append(name);
}
static int link_out(void) { return tried(link(scratch(), outside("new"))); }
static int link_through_descriptor(void) {
    int fd = open(outside("file"), O_PATH | O_CLOEXEC);
    if (fd < 0) return tried(-1);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, path, AT_FDCWD, workspace(probe_name), AT_SYMLINK_FOLLOW) < 0) return tried(-1);
    return append(workspace(probe_name));
}
static int change_mode(void) { return tried(chmod(outside("file"), 0600)); }
static int change_mode_by_path_descriptor(void) {
    int fd = open(outside("file"), O_PATH | O_CLOEXEC);
    if (fd < 0) return tried(-1);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return tried(chmod(path, 0600));
}
static int change_mode_fchmodat2(void) { return tried(syscall(452, AT_FDCWD, outside("file"), 0600, 0)); }
static int change_owner(void) { return tried(chown(outside("file"), getuid(), getgid())); }
static int change_times(void) {
    struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
    return tried(utimensat(AT_FDCWD, outside("file"), times, 0));
}
static int set_attribute(void) { return tried(setxattr(outside("file"), "user.escaped", "1", 1, 0)); }
static int remove_attribute(void) {
    /* Without the attribute the answer is ENODATA, which says that the way was open. */
    long result = removexattr(outside("file"), "user.none");
    return result < 0 && (errno == ENODATA || errno == EOPNOTSUPP) ? ESCAPED : tried(result);
}
static int set_flags(void) {
    int flags = 0, fd = open(outside("file"), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tried(-1);
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0) return tried(-1);
    flags |= FS_NODUMP_FL;
    return tried(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}
static int map_and_write(void) {
    int fd = open(outside("file"), O_RDWR | O_CLOEXEC);
    if (fd < 0) return tried(-1);
    char *bytes = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED) return tried(-1);
    bytes[0] = 'E';
    return tried(msync(bytes, 4096, MS_SYNC));
}
static int dot_dot(void) { return append(relative("file")); }
static int dot_dot_deep(void) {
    mkdir(workspace("deep"), 0755);
    if (chdir(workspace("deep")) < 0) return UNTRIED;
    return append(joined("..", relative("file")));
}
static int change_directory_out(void) {
    if (chdir(outside("")) < 0) return tried(-1);
    return append("file");
}
static int path_descriptor_openat(void) {
    int fd = open(outside(""), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return tried(-1);
    return tried(openat(fd, "file", O_WRONLY | O_TRUNC));
}
static int symlink_prepared(void) { return append(joined(workspace("links/outside"), joined(probe_name, "file"))); }
static int symlink_made(void) {
    if (symlink(outside("file"), workspace(probe_name)) < 0) return UNTRIED;
    return append(workspace(probe_name));
}
static int symlink_relative(void) {
    if (symlink(relative("file"), workspace(probe_name)) < 0) return UNTRIED;
    return append(workspace(probe_name));
}
static int symlink_chain(void) {
    char one[200], two[200];
    snprintf(one, sizeof one, "%s.1", probe_name);
    snprintf(two, sizeof two, "%s.2", probe_name);
    if (symlink(two, workspace(one)) < 0 || symlink(setting("OUT"), workspace(two)) < 0) return UNTRIED;
    return append(joined(workspace(one), joined(probe_name, "file")));
}
static int symlink_create_target(void) {
    if (symlink(outside("new"), workspace(probe_name)) < 0) return UNTRIED;
    return create(workspace(probe_name));
}
static int proc_self_root(void) { return append(joined("/proc/self/root", outside("file"))); }
static int proc_self_cwd(void) { return append(joined("/proc/self/cwd", relative("file"))); }
static int proc_parent_root(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/root", (int)getppid());
    return append(joined(path, outside("file")));
}
static int proc_init_root(void) { return append(joined("/proc/1/root", outside("file"))); }
static int victim_path(const char *what, const char *rest) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)victim(), what);
    return append(*rest ? joined(path, rest) : path);
}
static int proc_victim_root(void) { return victim_path("root", outside("file")); }
static int proc_victim_cwd(void) { return victim_path("cwd", "file"); }
static int proc_victim_descriptor(void) { return victim_path("fd/9", ""); }
static int proc_thread_root(void) { return append(joined("/proc/thread-self/root", outside("file"))); }

/* Descriptors that the caller left open: the harness opens 5 (a file, for writing), 6 (a directory), 7 (a file, for
 * reading), 8 (a connected socket) and 9 (the parent of the workspace). */
static int leaked_write(void) {
    int escaped = 0;
    for (int fd = 3; fd < 64; fd++) {
        struct stat about;
        if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && write(fd, "escaped\n", 8) == 8) escaped = 1;
    }
    return escaped ? ESCAPED : tried(-1);
}
static int leaked_directory(void) {
    for (int fd = 3; fd < 64; fd++) {
        int opened = openat(fd, joined(probe_name, "file"), O_WRONLY | O_APPEND);
        if (opened >= 0) return tried(write(opened, "escaped\n", 8));
    }
    return tried(-1);
}
static int leaked_directory_fchdir(void) {
    for (int fd = 3; fd < 64; fd++) {
        if (fchdir(fd) == 0 && append(joined(probe_name, "file")) == ESCAPED) return ESCAPED;
    }
    return tried(-1);
}
static int leaked_directory_dot_dot(void) {
    for (int fd = 3; fd < 64; fd++) {
        int opened = openat(fd, joined("../outside", joined(probe_name, "file")), O_WRONLY | O_APPEND);
        if (opened >= 0) return tried(write(opened, "escaped\n", 8));
    }
    return tried(-1);
}
static int leaked_reopen(void) {
    for (int fd = 3; fd < 64; fd++) {
        char path[64], target[4096];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length <= 0) continue;
        target[length] = 0;
        if (strstr(target, "leaked_reopen") && append(path) == ESCAPED) return ESCAPED;
    }
    return REFUSED;
}
static int leaked_socket(void) {
    for (int fd = 3; fd < 64; fd++) {
        if (send(fd, "leaked_socket\n", 14, MSG_DONTWAIT) == 14) return ESCAPED;
    }
    return tried(-1);
}

static int open_with_openat2(void) {
    struct open_how how = { .flags = O_WRONLY | O_APPEND };
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, outside("file"), &how, sizeof how);
    return fd < 0 ? tried(-1) : tried(write(fd, "escaped\n", 8));
}
static int open_by_handle(void) {
    struct { struct file_handle head; unsigned char bytes[128]; } handle = { 0 };
    const char *text = setting("HANDLE");
    unsigned type = 0, size = 0;
    int used = 0;
    if (sscanf(text, "%u:%u:%n", &type, &size, &used) < 2 || size > 128) return UNTRIED;
    handle.head.handle_type = (int)type;
    handle.head.handle_bytes = size;
    for (unsigned i = 0; i < size; i++) {
        unsigned byte = 0;
        sscanf(text + used + 2 * i, "%2x", &byte);
        handle.bytes[i] = (unsigned char)byte;
    }
    int at = open(setting("WS"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = open_by_handle_at(at, &handle.head, O_WRONLY | O_APPEND);
    return fd < 0 ? tried(-1) : tried(write(fd, "escaped\n", 8));
}

/* Mounts. Where a mount namespace of one's own can be had, the attempt is made in it, so that the control leaves the
 * machine as it was; where it cannot, the attempt is made all the same. */
static void apart(void) {
    if (unshare(CLONE_NEWNS) == 0) mount(0, "/", 0, MS_REC | MS_PRIVATE, 0);
}
static int mount_bind(void) {
    apart();
    mkdir(workspace("mnt"), 0755);
    if (mount(outside(""), workspace("mnt"), 0, MS_BIND, 0) < 0) return tried(-1);
    return append(workspace("mnt/file"));
}
static int mount_bind_in_user_namespace(void) {
    if (enter_user_namespace() < 0) return tried(-1);
    mkdir(workspace("mnt"), 0755);
    if (mount(outside(""), workspace("mnt"), 0, MS_BIND, 0) < 0) return tried(-1);
    return append(workspace("mnt/file"));
}
static int mount_tmpfs(void) {
    apart();
    mkdir(workspace("mnt"), 0755);
    return tried(mount("none", workspace("mnt"), "tmpfs", 0, 0));
}
static int mount_tmpfs_in_user_namespace(void) {
    if (enter_user_namespace() < 0) return tried(-1);
    mkdir(workspace("mnt"), 0755);
    return tried(mount("none", workspace("mnt"), "tmpfs", 0, 0));
}
static int mount_proc(void) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) < 0) return tried(-1);
    return in_child(mount_tmpfs);
}
static int mount_overlay(void) {
    char options[9000];
    if (enter_user_namespace() < 0) return tried(-1);
    mkdir(workspace("over"), 0755);
    mkdir(workspace("over.work"), 0755);
    mkdir(workspace("over.upper"), 0755);
    snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s", setting("HOME"), workspace("over.upper"), workspace("over.work"));
    if (mount("overlay", workspace("over"), "overlay", 0, options) < 0) return tried(-1);
    return read_out(workspace("over/.ssh/id_rsa"));
}
static int unmount(void) {
    apart();
    return tried(umount2("/proc", MNT_DETACH));
}
static int unmount_workspace(void) {
    apart();
    mount(setting("WS"), setting("WS"), 0, MS_BIND, 0); /* so that the control has what to unmount */
    return tried(umount2(setting("WS"), MNT_DETACH));
}
static int remount_writable(void) {
    apart();
    mount("/etc", "/etc", 0, MS_BIND, 0);
    return tried(mount(0, "/etc", 0, MS_REMOUNT | MS_BIND, 0));
}
static int remount_proc_sys(void) {
    apart();
    mount("/proc/sys", "/proc/sys", 0, MS_BIND, 0);
    return tried(mount(0, "/proc/sys", 0, MS_REMOUNT | MS_BIND, 0));
}
static int make_shared(void) {
    if (enter_user_namespace() < 0) return tried(-1);
    return tried(mount(0, "/", 0, MS_REC | MS_SLAVE, 0));
}
static int tree_moved(const char *from) {
    int tree = (int)syscall(SYS_open_tree, AT_FDCWD, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (tree < 0) return tried(-1);
    mkdir(workspace("mnt"), 0755);
    return tried(syscall(SYS_move_mount, tree, "", AT_FDCWD, workspace("mnt"), MOVE_MOUNT_F_EMPTY_PATH));
}
static int open_tree_clone(void) {
    apart();
    return tree_moved(setting("OUT"));
}
static int open_tree_in_user_namespace(void) {
    if (enter_user_namespace() < 0) return tried(-1);
    return tree_moved(setting("OUT"));
}
static int open_tree_plain(void) {
    /* Without OPEN_TREE_CLONE it is an open with O_PATH that needs no privilege: the call itself is in reach. */
    return reached(syscall(SYS_open_tree, AT_FDCWD, setting("WS"), OPEN_TREE_CLOEXEC));
}
static int filesystem_opened(void) {
    int context = (int)syscall(SYS_fsopen, "tmpfs", 0);
    if (context < 0) return tried(-1);
    if (syscall(SYS_fsconfig, context, 6 /* create */, 0, 0, 0) < 0) return tried(-1);
    return tried(syscall(SYS_fsmount, context, 0, 0));
}
static int new_mount_api(void) {
    apart();
    return filesystem_opened();
}
static int new_mount_api_in_user_namespace(void) {
    if (enter_user_namespace() < 0) return tried(-1);
    return filesystem_opened();
}
static int pick_filesystem(void) {
    apart();
    return reached(syscall(SYS_fspick, AT_FDCWD, "/", 0));
}
static int mount_attributes(void) {
    struct mount_attr attributes = { .attr_clr = MOUNT_ATTR_RDONLY };
    apart();
    mount("/etc", "/etc", 0, MS_BIND, 0);
    return tried(syscall(SYS_mount_setattr, AT_FDCWD, "/etc", 0, &attributes, sizeof attributes));
}
static int mount_attributes_in_user_namespace(void) {
    struct mount_attr attributes = { .attr_set = MOUNT_ATTR_NOEXEC };
    if (enter_user_namespace() < 0) return tried(-1);
    if (mount(setting("WS"), setting("WS"), 0, MS_BIND, 0) < 0) return tried(-1);
    return tried(syscall(SYS_mount_setattr, AT_FDCWD, setting("WS"), 0, &attributes, sizeof attributes));
}
static int pivot(void) {
    if (enter_user_namespace() < 0) return tried(-1);
    mkdir(workspace("mnt"), 0755);
    if (mount(setting("WS"), workspace("mnt"), 0, MS_BIND, 0) < 0) return tried(-1);
    if (chdir(workspace("mnt")) < 0) return tried(-1);
    return tried(syscall(SYS_pivot_root, ".", "."));
}
static int change_root(void) { return tried(chroot(setting("WS"))); }
static int change_root_escape(void) {
    int top = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *target = outside("file");
    if (chroot(setting("WS")) < 0) return tried(-1);
    if (top < 0 || fchdir(top) < 0 || chroot(".") < 0) return tried(-1);
    return append(target);
}
static int change_root_in_user_namespace(void) {
    if (enter_user_namespace() < 0) return tried(-1);
    return tried(chroot(setting("WS")));
}

/* What decides how the next session starts, and what the system runs. */
static int home_bashrc(void) { return append(home(".bashrc")); }
static int home_profile(void) { return create(home(".profile")); }
static int home_gitconfig(void) { return append(home(".gitconfig")); }
static int home_authorized_keys(void) { return create(home(".ssh/authorized_keys")); }
static int home_autostart(void) { return create(home(".config/autostart.desktop")); }
static int home_cargo_config(void) { return create(home(".cargo/config.toml")); }
static int home_local_bin(void) { return shell("mkdir -p $HOME_/.local/bin && echo escaped > $HOME_/.local/bin/git"); }
static int home_claude(void) { return create(home(".claude.json")); }
static int home_replaced(void) { return tried(rename(home(".password-store"), home(".password-gone"))); }
static int other_home(void) { return append(joined(setting("OTHER"), ".bashrc")); }
static int own_configuration(void) { return append(home(".config/bailiwick/config.yaml")); }
static int own_state(void) { return append(home(".local/state/bailiwick/journal.jsonl")); }
static int own_config_flag(void) { return append(setting("CONFIG")); }
static int own_program(void) { return append(setting("PROGRAM")); }
static int host_tmp(void) { return append(setting("TMP_FILE")); }
static int host_var_tmp(void) { return append(setting("VAR_TMP_FILE")); }
static int host_shared_memory(void) { return append(setting("SHM_FILE")); }
static int system_etc(void) { return opens("/etc", O_TMPFILE | O_WRONLY); }
static int system_bin(void) { return opens("/usr/local/bin", O_TMPFILE | O_WRONLY); }
static int system_lib(void) { return opens("/usr/lib", O_TMPFILE | O_WRONLY); }
static int system_passwd(void) { return opens("/etc/passwd", O_WRONLY | O_APPEND); }
static int system_preload(void) { return opens("/etc", O_TMPFILE | O_RDWR); }
static int system_spool(void) { return opens("/var/spool", O_TMPFILE | O_WRONLY); }
static int system_root(void) { return opens("/", O_TMPFILE | O_WRONLY); }
static int system_boot(void) { return opens("/boot", O_TMPFILE | O_WRONLY); }

static int sh_redirect(void) { return shell("echo escaped > $OUT/file"); }
static int sh_delete(void) { return shell("rm -rf $OUT/directory"); }
static int sh_copy(void) { return shell("cp /etc/hostname $OUT/new"); }
static int sh_dd(void) { return shell("dd if=/dev/zero of=$OUT/file bs=1 count=1 conv=notrunc 2>&1"); }
static int sh_sed(void) { return shell("sed -i s/untouched/escaped/ $OUT/file"); }
static int sh_tar(void) { return shell("cd $WS && mkdir -p t && echo x > t/new && tar cf t.tar t/new && tar xPf t.tar -C $OUT --strip-components=1"); }
static int sh_git_init(void) { return command_exists("git") ? shell("git init -q $OUT/repository") : UNTRIED; }
static int sh_interpreter(void) { return command_exists("python3") ? python("import os; open(os.environ['OUT']+'/file','a').write('escaped')") : UNTRIED; }
/* CVE-2019-5736: the launcher's own program is the target. */
static int own_executable(void) {
    char path[64], target[4096];
    for (pid_t pid = 1; pid < 400; pid++) {
        snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length <= 0) continue;
        target[length] = 0;
        if (strstr(target, "/program")) {
            int fd = open(path, O_WRONLY | O_CLOEXEC);
            if (fd >= 0 || errno == ETXTBSY) {
                printf("%s opens for writing ", target);
                return ESCAPED;
            }
        }
    }
    return append(setting("PROGRAM_COPY"));
}

const struct probe FILES[] = {
    { "write_absolute", "files", "", "", "", write_absolute },
    { "write_truncating", "files", "", "", "", write_truncating },
    { "truncate_path", "files", "", "", "", truncate_path },
    { "create_absolute", "files", "", "", "CVE-2025-59532", create_absolute },
    { "create_directory", "files", "", "", "", create_directory },
    { "create_symlink", "files", "", "", "", create_symlink },
    { "create_fifo", "files", "", "", "", create_fifo },
    { "create_temporary", "files", "", "", "", create_temporary },
    { "create_socket", "files", "", "", "", create_socket },
    { "create_device", "files", "root", "", "", create_device },
    { "delete_file", "files", "", "", "", delete_file },
    { "delete_directory", "files", "", "", "", delete_directory },
    { "rename_within", "files", "", "", "", rename_within },
    { "rename_in", "files", "", "", "", rename_in },
    { "rename_out", "files", "", "", "", rename_out },
    { "rename_over", "files", "", "", "", rename_over },
    { "rename_swap", "files", "", "", "", rename_swap },
    { "link_and_write", "files", "", "", "", link_and_write },
    { "link_out", "files", "", "", "", link_out },
    { "link_through_descriptor", "files", "", "", "", link_through_descriptor },
    { "change_mode", "files", "", "", "", change_mode },
    { "change_mode_by_path_descriptor", "files", "", "", "", change_mode_by_path_descriptor },
    { "change_mode_fchmodat2", "files", "kernel", "", "", change_mode_fchmodat2 },
    { "change_owner", "files", "", "", "", change_owner },
    { "change_times", "files", "", "", "", change_times },
    { "set_attribute", "files", "", "", "", set_attribute },
    { "remove_attribute", "exit", "", "", "", remove_attribute },
    { "set_flags", "files", "kernel", "", "", set_flags },
    { "map_and_write", "files", "", "", "", map_and_write },
    { "dot_dot", "files", "", "", "", dot_dot },
    { "dot_dot_deep", "files", "", "", "", dot_dot_deep },
    { "change_directory_out", "files", "", "", "", change_directory_out },
    { "path_descriptor_openat", "files", "", "", "", path_descriptor_openat },
    { "symlink_prepared", "files", "", "", "CVE-2026-39861", symlink_prepared },
    { "symlink_made", "files", "", "", "CVE-2026-39861", symlink_made },
    { "symlink_relative", "files", "", "", "", symlink_relative },
    { "symlink_chain", "files", "", "", "", symlink_chain },
    { "symlink_create_target", "files", "", "", "", symlink_create_target },
    { "proc_self_root", "files", "", "", "", proc_self_root },
    { "proc_self_cwd", "files", "", "", "", proc_self_cwd },
    { "proc_parent_root", "files", "", "", "", proc_parent_root },
    { "proc_init_root", "files", "root,kernel", "", "", proc_init_root },
    { "proc_victim_root", "files", "", "", "", proc_victim_root },
    { "proc_victim_cwd", "files", "", "", "", proc_victim_cwd },
    { "proc_victim_descriptor", "files", "", "", "", proc_victim_descriptor },
    { "proc_thread_root", "files", "", "", "", proc_thread_root },
    { "leaked_write", "files", "", "", "", leaked_write },
    { "leaked_directory", "files", "", "", "CVE-2024-21626", leaked_directory },
    { "leaked_directory_fchdir", "files", "", "", "CVE-2024-21626", leaked_directory_fchdir },
    { "leaked_directory_dot_dot", "files", "", "", "CVE-2024-21626", leaked_directory_dot_dot },
    { "leaked_reopen", "files", "", "", "", leaked_reopen },
    { "leaked_socket", "server", "", "", "", leaked_socket },
    { "open_with_openat2", "files", "", "", "", open_with_openat2 },
    { "open_by_handle", "files", "root", "", "", open_by_handle },
    { "mount_bind", "files", "root", "", "", mount_bind },
    { "mount_bind_in_user_namespace", "files", "kernel", "", "", mount_bind_in_user_namespace },
    { "mount_tmpfs", "exit", "root", "", "", mount_tmpfs },
    { "mount_tmpfs_in_user_namespace", "exit", "kernel", "", "", mount_tmpfs_in_user_namespace },
    { "mount_in_three_namespaces", "exit", "kernel", "", "", mount_proc },
    { "mount_overlay", "leak", "kernel", "", "", mount_overlay },
    { "unmount_proc", "exit", "root", "", "", unmount },
    { "unmount_workspace", "exit", "root", "", "", unmount_workspace },
    { "remount_writable", "exit", "root", "", "", remount_writable },
    { "remount_proc_sys", "exit", "root", "", "", remount_proc_sys },
    { "change_propagation", "exit", "kernel", "", "", make_shared },
    { "open_tree_clone", "exit", "root", "", "CVE-2021-41133", open_tree_clone },
    { "open_tree_in_user_namespace", "exit", "kernel", "", "CVE-2021-41133", open_tree_in_user_namespace },
    { "open_tree_plain", "exit", "", "", "CVE-2021-41133", open_tree_plain },
    { "new_mount_api", "exit", "root", "", "CVE-2021-41133", new_mount_api },
    { "new_mount_api_in_user_namespace", "exit", "kernel", "", "CVE-2021-41133", new_mount_api_in_user_namespace },
    { "pick_filesystem", "exit", "root", "", "CVE-2021-41133", pick_filesystem },
    { "mount_attributes", "exit", "root", "", "CVE-2021-41133", mount_attributes },
    { "mount_attributes_in_user_namespace", "exit", "kernel", "", "CVE-2021-41133", mount_attributes_in_user_namespace },
    { "pivot_root", "exit", "kernel", "", "", pivot },
    { "change_root", "exit", "root", "", "", change_root },
    { "change_root_escape", "files", "root", "", "", change_root_escape },
    { "change_root_in_user_namespace", "exit", "kernel", "", "", change_root_in_user_namespace },
    { "home_bashrc", "files", "", "home/.bashrc", "", home_bashrc },
    { "home_profile", "files", "", "home/.profile", "", home_profile },
    { "home_gitconfig", "files", "", "home/.gitconfig", "", home_gitconfig },
    { "home_authorized_keys", "files", "", "home/.ssh/authorized_keys", "", home_authorized_keys },
    { "home_autostart", "files", "", "home/.config/autostart.desktop", "", home_autostart },
    { "home_cargo_config", "files", "", "home/.cargo/config.toml", "", home_cargo_config },
    { "home_local_bin", "files", "", "home/.local/bin", "", home_local_bin },
    { "home_claude", "files", "", "home/.claude.json", "", home_claude },
    { "home_other_user", "files", "root", "other/.bashrc", "", other_home },
    { "own_configuration", "files", "", "home/.config/bailiwick/config.yaml", "", own_configuration },
    { "own_state", "files", "", "home/.local/state/bailiwick/journal.jsonl", "", own_state },
    { "own_config_flag", "files", "", "config", "", own_config_flag },
    { "own_program", "files", "", "program", "", own_program },
    { "own_executable", "files", "", "program-copy", "CVE-2019-5736", own_executable },
    { "host_tmp_write", "files", "", "TMP_FILE", "", host_tmp },
    { "host_var_tmp_write", "files", "", "VAR_TMP_FILE", "", host_var_tmp },
    { "host_shared_memory_write", "files", "", "SHM_FILE", "", host_shared_memory },
    { "system_etc", "exit", "root", "", "", system_etc },
    { "system_bin", "exit", "root", "", "", system_bin },
    { "system_lib", "exit", "root", "", "", system_lib },
    { "system_passwd", "exit", "root", "", "", system_passwd },
    { "system_preload", "exit", "root", "", "", system_preload },
    { "system_spool", "exit", "root", "", "", system_spool },
    { "system_root", "exit", "root", "", "", system_root },
    { "system_boot", "exit", "root", "", "", system_boot },
    { "sh_redirect", "files", "", "", "", sh_redirect },
    { "sh_delete", "files", "", "", "", sh_delete },
    { "sh_copy", "files", "", "", "", sh_copy },
    { "sh_dd", "files", "", "", "", sh_dd },
    { "sh_sed", "files", "", "", "", sh_sed },
    { "sh_tar", "files", "", "", "", sh_tar },
    { "sh_git_init", "files", "tool", "", "", sh_git_init },
    { "sh_interpreter", "files", "tool", "", "", sh_interpreter },
    { "home_replaced", "files", "", "home/.password-store", "", home_replaced },
    END
};
