/* What every family of probes shares. A probe tries one way out of a fence. It answers ESCAPED only if the way was
 * open, REFUSED if something stood in it, and UNTRIED if the attempt could not even be made (a tool is missing). */
#ifndef PROBE_H
#define PROBE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ESCAPED = 0, REFUSED = 1, UNTRIED = 2 };

/* `judge` says who sees the escape:
 *   exit     nobody but the probe itself
 *   files    the tree outside the workspace changed (beneath `where`, or beneath outside/NAME)
 *   leak     a secret of the setting stands in what the probe printed
 *   victim   the victim process was changed, signalled or ended
 *   server   the probe's name arrived at a server outside
 *   terminal what was injected stands in the terminal's input afterwards
 *   protect  something protected in the workspace changed; `where` names the workspace: full or bare
 * `needs` says when the control may fail: root, user, kernel, terminal, tool, or nothing. */
struct probe {
    const char *name;
    const char *judge;
    const char *needs;
    const char *where;
    const char *cve;
    int (*run)(void);
};

extern const struct probe FILES[], HIDDEN[], PROTECTED[], PROCESSES[], KERNEL[], NETWORK[], TERMINAL[], ENVIRONMENT[];

/* The setting: what the harness prepared, by name; an empty string where it prepared nothing. */
const char *setting(const char *key);
long setting_number(const char *key);

/* The name of the probe that runs, and paths made from it; each call gives one of a ring of buffers. */
extern const char *probe_name;
const char *joined(const char *directory, const char *name);
const char *outside(const char *name);   /* outside/PROBE/NAME */
const char *workspace(const char *name); /* WORKSPACE/NAME */
const char *home(const char *name);

/* The victim of this probe: its process, and the address of its secret. */
pid_t victim(void);
unsigned long victim_address(void);

/* Judging a call by its result: `tried(-1)` prints errno and refuses. */
int tried(long result);
/* Reached the kernel's own code: any answer but EPERM, EACCES, ENOSYS. */
int reached(long result);
int append(const char *path);
int create(const char *path);
int read_out(const char *path); /* prints what it read */
int opens(const char *path, int flags);
int shell(const char *script); /* escaped if it exits 0; $OUT $WS $HOME_ $NAME are set */
int python(const char *script);
int in_child(int (*run)(void));
int enter_user_namespace(void); /* user + mount namespace with ids mapped; 0 or -1 */
int command_exists(const char *name);

/* Programs for the harness, not probes. */
int launch(int argc, char **argv);
int be_victim(int argc, char **argv);
int be_bomb(int argc, char **argv);
int be_witness(int argc, char **argv);
int print_handle(const char *path);
int set_capability(const char *path);
int keep_objects(void);
int install_namespace_ban(void);

#define END { 0, 0, 0, 0, 0, 0 }
#endif
