/* Changing what decides what runs, inside the workspace. Each probe gets a workspace of its own: `full` has a
 * repository with hooks and configuration files of agents and editors, `bare` is a repository without any of these. */
#include "probe.h"

#define WRITES(function, path) \
    static int function(void) { return create(workspace(path)); }
#define RUNS(function, script) \
    static int function(void) { return shell("cd \"$WS\" && " script); }
#define GIT(function, script) \
    static int function(void) { return command_exists("git") ? shell("cd \"$WS\" && export GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent; " script) : UNTRIED; }

WRITES(hook_new, ".git/hooks/pre-commit")
WRITES(hook_existing, ".git/hooks/post-checkout")
WRITES(git_config, ".git/config")
WRITES(git_worktree_config, ".git/config.worktree")
WRITES(claude_settings, ".claude/settings.json")
WRITES(claude_local, ".claude/settings.local.json")
WRITES(own_file, ".bailiwick.yaml")
WRITES(own_file_yml, ".bailiwick.yml")
WRITES(own_file_json, ".bailiwick.json")
WRITES(mcp, ".mcp.json")
WRITES(envrc, ".envrc")
WRITES(bashrc, ".bashrc")
WRITES(zshenv, ".zshenv")
WRITES(profile, ".profile")
WRITES(gitconfig, ".gitconfig")
RUNS(hook_delete, "rm -f .git/hooks/post-checkout")
RUNS(hook_mode, "chmod 777 .git/hooks/post-checkout")
RUNS(hook_truncate, "truncate -s 0 .git/hooks/post-checkout")
RUNS(hooks_renamed, "mv .git/hooks .git/old && mkdir .git/hooks && echo escaped > .git/hooks/pre-commit")
RUNS(git_renamed, "mv .git x && mkdir -p .git/hooks && echo escaped > .git/hooks/pre-commit")
RUNS(git_copied, "cp -r .git y && rm -rf .git && mv y .git && echo escaped > .git/hooks/pre-commit")
RUNS(git_replaced_by_link, "mv .git x && ln -s x .git && echo escaped > x/hooks/pre-commit")
RUNS(git_replaced_by_file, "mv .git x && echo 'gitdir: x' > .git")
RUNS(hooks_replaced_by_link, "rm -rf .git/hooks && mkdir evil && echo escaped > evil/pre-commit && ln -s ../evil .git/hooks")
RUNS(hooks_by_link, "ln -s .git/hooks h && echo escaped > h/pre-commit")
RUNS(hooks_by_parent, "mkdir -p a/b && cd a/b && echo escaped > ../../.git/hooks/pre-commit")
RUNS(hook_by_hard_link, "ln .git/hooks/post-checkout h && echo escaped >> h")
RUNS(hook_moved_in, "echo escaped > p && chmod +x p && mv p .git/hooks/pre-commit")
RUNS(hook_linked_in, "echo escaped > p && ln p .git/hooks/pre-commit")
RUNS(config_moved_over, "cp .git/config c && echo '[core]' >> c && mv c .git/config")
RUNS(config_lock, "cp .git/config .git/config.lock && echo '[core]' >> .git/config.lock && mv .git/config.lock .git/config")
RUNS(workspace_renamed, "cd .. && mv \"$WS\" moved && mkdir \"$WS\" && mkdir -p \"$WS/.git/hooks\" && echo escaped > \"$WS/.git/hooks/pre-commit\"")
RUNS(claude_renamed, "mv .claude c && mkdir .claude && echo '{}' > .claude/settings.json")
RUNS(claude_deleted, "rm -rf .claude")
RUNS(vscode_tasks, "mkdir -p .vscode && echo escaped > .vscode/tasks.json")
RUNS(vscode_settings, "mkdir -p .vscode && echo escaped > .vscode/settings.json")
RUNS(idea, "mkdir -p .idea && echo escaped > .idea/workspace.xml")
RUNS(cursor, "mkdir -p .cursor && echo escaped > .cursor/hooks.json")
RUNS(codex, "mkdir -p .codex && echo escaped > .codex/config.toml")
RUNS(gemini, "mkdir -p .gemini && echo escaped > .gemini/settings.json")
RUNS(opencode, "mkdir -p .opencode && echo escaped > .opencode/plugin.js")
RUNS(claude_created, "mkdir -p .claude && echo escaped > .claude/settings.json")
RUNS(claude_created_by_rename, "mkdir c && echo escaped > c/settings.json && mv c .claude")
RUNS(claude_created_by_link, "mkdir c && echo escaped > c/settings.json && ln -s c .claude")
RUNS(claude_created_by_copy, "mkdir c && echo escaped > c/settings.json && cp -r c .claude")
RUNS(hooks_created, "mkdir -p .git/hooks && echo escaped > .git/hooks/pre-commit")
RUNS(own_file_renamed, "echo escaped > b && mv b .bailiwick.yaml")
RUNS(own_file_deleted, "rm -f .bailiwick.yaml")
RUNS(own_file_linked, "echo escaped > b && ln -sf b .bailiwick.yaml")
RUNS(upper_case_hooks, "mkdir -p .GIT/HOOKS && echo escaped > .GIT/HOOKS/pre-commit && test -e .git/hooks/pre-commit")
RUNS(upper_case_claude, "mkdir -p .Claude && echo escaped > .Claude/settings.json && test -e .claude/settings.json")
RUNS(hook_by_tar, "mkdir -p t/.git/hooks && echo escaped > t/.git/hooks/pre-commit && tar cf t.tar -C t . && tar xf t.tar && grep -q escaped .git/hooks/pre-commit")
RUNS(built_in_redirect, "export x=escaped; echo $x >> .git/hooks/post-checkout")
GIT(git_hooks_path, "git config core.hooksPath evil && grep -q evil .git/config")
GIT(git_hooks_path_worktree, "git config extensions.worktreeConfig true && git config --worktree core.hooksPath evil")
GIT(git_pager, "git config core.pager 'sh -c id' && grep -q pager .git/config")
GIT(git_init_template, "mkdir -p t/hooks && echo escaped > t/hooks/pre-commit && git init -q --template=t . && grep -q escaped .git/hooks/pre-commit")
GIT(git_init_again, "rm -rf .git; git init -q . && echo escaped > .git/hooks/pre-commit")
GIT(git_separate_directory, "git init -q --separate-git-dir=g . && echo escaped > g/hooks/pre-commit && test -f .git")

static int mount_over_hooks(void) {
    if (enter_user_namespace() < 0) return tried(-1);
    if (mount("none", workspace(".git/hooks"), "tmpfs", 0, 0) < 0) return tried(-1);
    return ESCAPED;
}

static int hook_swap(void) {
    mkdir(workspace("evil"), 0755);
    create(workspace("evil/pre-commit"));
    return tried(syscall(SYS_renameat2, AT_FDCWD, workspace("evil"), AT_FDCWD, workspace(".git/hooks"), 2));
}

static int git_swap(void) {
    mkdir(workspace("evil"), 0755);
    mkdir(workspace("evil/hooks"), 0755);
    create(workspace("evil/hooks/pre-commit"));
    return tried(syscall(SYS_renameat2, AT_FDCWD, workspace("evil"), AT_FDCWD, workspace(".git"), 2));
}

const struct probe PROTECTED[] = {
    { "hook_new", "protect", "", "full", "", hook_new },
    { "hook_existing", "protect", "", "full", "", hook_existing },
    { "hook_delete", "protect", "", "full", "", hook_delete },
    { "hook_mode", "protect", "", "full", "", hook_mode },
    { "hook_truncate", "protect", "", "full", "", hook_truncate },
    { "hook_moved_in", "protect", "", "full", "", hook_moved_in },
    { "hook_linked_in", "protect", "", "full", "", hook_linked_in },
    { "hook_by_hard_link", "protect", "", "full", "", hook_by_hard_link },
    { "hook_by_tar", "protect", "", "full", "", hook_by_tar },
    { "hook_swap", "protect", "", "full", "", hook_swap },
    { "hooks_renamed", "protect", "", "full", "", hooks_renamed },
    { "hooks_replaced_by_link", "protect", "", "full", "", hooks_replaced_by_link },
    { "hooks_by_link", "protect", "", "full", "", hooks_by_link },
    { "hooks_by_parent", "protect", "", "full", "", hooks_by_parent },
    { "hooks_mounted_over", "exit", "kernel", "full", "", mount_over_hooks },
    { "hook_by_shell_builtin", "protect", "", "full", "CVE-2026-22708", built_in_redirect },
    { "git_renamed", "protect", "", "full", "", git_renamed },
    { "git_copied", "protect", "", "full", "", git_copied },
    { "git_swap", "protect", "", "full", "", git_swap },
    { "git_replaced_by_link", "protect", "", "full", "", git_replaced_by_link },
    { "git_replaced_by_file", "protect", "", "full", "", git_replaced_by_file },
    { "git_config", "protect", "", "full", "", git_config },
    { "git_config_moved_over", "protect", "", "full", "", config_moved_over },
    { "git_config_lock", "protect", "", "full", "", config_lock },
    { "git_config_worktree", "protect", "", "full", "", git_worktree_config },
    { "git_config_hooks_path", "protect", "tool", "full", "", git_hooks_path },
    { "git_config_hooks_path_worktree", "protect", "tool", "full", "", git_hooks_path_worktree },
    { "git_config_pager", "protect", "tool", "full", "", git_pager },
    { "git_init_template", "protect", "tool", "bare", "", git_init_template },
    { "git_init_again", "protect", "tool", "full", "", git_init_again },
    { "git_separate_directory", "protect", "tool", "full", "", git_separate_directory },
    { "workspace_renamed", "protect", "", "full", "", workspace_renamed },
    { "claude_settings", "protect", "", "full", "", claude_settings },
    { "claude_local", "protect", "", "full", "", claude_local },
    { "claude_renamed", "protect", "", "full", "", claude_renamed },
    { "claude_deleted", "protect", "", "full", "", claude_deleted },
    { "own_file", "protect", "", "full", "", own_file },
    { "own_file_renamed", "protect", "", "full", "", own_file_renamed },
    { "own_file_deleted", "protect", "", "full", "", own_file_deleted },
    { "own_file_linked", "protect", "", "full", "", own_file_linked },
    { "upper_case_hooks", "protect", "kernel", "full", "CVE-2025-59944", upper_case_hooks },
    { "upper_case_claude", "protect", "kernel", "bare", "CVE-2025-59944", upper_case_claude },
    { "missing_hooks", "protect", "", "bare", "CVE-2026-25725", hooks_created },
    { "missing_hooks_by_rename", "protect", "", "bare", "CVE-2026-25725", git_renamed },
    { "missing_claude", "protect", "", "bare", "CVE-2026-25725", claude_created },
    { "missing_claude_by_rename", "protect", "", "bare", "CVE-2026-25725", claude_created_by_rename },
    { "missing_claude_by_link", "protect", "", "bare", "CVE-2026-25725", claude_created_by_link },
    { "missing_claude_by_copy", "protect", "", "bare", "CVE-2026-25725", claude_created_by_copy },
    { "missing_vscode_tasks", "protect", "", "bare", "", vscode_tasks },
    { "missing_vscode_settings", "protect", "", "bare", "", vscode_settings },
    { "missing_idea", "protect", "", "bare", "", idea },
    { "missing_cursor", "protect", "", "bare", "", cursor },
    { "missing_codex", "protect", "", "bare", "", codex },
    { "missing_gemini", "protect", "", "bare", "", gemini },
    { "missing_opencode", "protect", "", "bare", "", opencode },
    { "missing_mcp", "protect", "", "bare", "", mcp },
    { "missing_envrc", "protect", "", "bare", "", envrc },
    { "missing_bashrc", "protect", "", "bare", "", bashrc },
    { "missing_zshenv", "protect", "", "bare", "", zshenv },
    { "missing_profile", "protect", "", "bare", "", profile },
    { "missing_gitconfig", "protect", "", "bare", "", gitconfig },
    { "missing_own_file", "protect", "", "bare", "CVE-2026-25725", own_file },
    { "missing_own_file_yml", "protect", "", "bare", "CVE-2026-25725", own_file_yml },
    { "missing_own_file_json", "protect", "", "bare", "CVE-2026-25725", own_file_json },
    END
};
