/* The program: `probe list`, `probe run SETTING NAME`, `probe batch SETTING NAME…` (one line a probe), and the helpers
 * that the harness needs on both sides of the fence. */
#include "probe.h"
#include <poll.h>
#include <sched.h>
#include <time.h>

const char *probe_name = "";

static const struct probe *const FAMILIES[] = { FILES, HIDDEN, PROTECTED, PROCESSES, KERNEL, NETWORK, TERMINAL, ENVIRONMENT };
static const char *const FAMILY_NAMES[] = { "files", "hidden", "protected", "processes", "kernel", "network", "terminal", "environment" };
enum { FAMILY_COUNT = sizeof FAMILIES / sizeof FAMILIES[0] };

static char settings_text[65536];

static void read_settings(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t length = read(fd, settings_text, sizeof settings_text - 1);
    settings_text[length > 0 ? length : 0] = 0;
    close(fd);
}

const char *setting(const char *key) {
    static char ring[16][4200];
    static int turn;
    size_t size = strlen(key);
    for (const char *line = settings_text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : 0) {
        if (strncmp(line, key, size) == 0 && line[size] == '=') {
            char *buffer = ring[turn++ % 16];
            const char *value = line + size + 1;
            size_t length = strcspn(value, "\n");
            if (length > 4199) length = 4199;
            memcpy(buffer, value, length);
            buffer[length] = 0;
            return buffer;
        }
    }
    return "";
}

long setting_number(const char *key) { return strtol(setting(key), 0, 10); }

const char *joined(const char *directory, const char *name) {
    static char ring[32][4300];
    static int turn;
    char *buffer = ring[turn++ % 32];
    snprintf(buffer, 4300, "%s/%s", directory, name);
    return buffer;
}

const char *outside(const char *name) { return joined(joined(setting("OUT"), probe_name), name); }
const char *workspace(const char *name) { return joined(setting("WS"), name); }
const char *home(const char *name) { return joined(setting("HOME"), name); }

pid_t victim(void) {
    char key[128];
    snprintf(key, sizeof key, "VICTIM_%s", probe_name);
    return (pid_t)setting_number(key);
}

unsigned long victim_address(void) {
    char key[128];
    snprintf(key, sizeof key, "SECRET_%s", probe_name);
    return strtoul(setting(key), 0, 16);
}

int tried(long result) {
    if (result >= 0) return ESCAPED;
    printf("%s ", strerror(errno));
    return REFUSED;
}

int reached(long result) {
    if (result >= 0) return ESCAPED;
    printf("%s ", strerror(errno));
    return errno == EPERM || errno == EACCES || errno == ENOSYS ? REFUSED : ESCAPED;
}

int append(const char *path) {
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0) return tried(-1);
    long wrote = write(fd, "escaped\n", 8);
    close(fd);
    return tried(wrote);
}

int create(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return tried(-1);
    long wrote = write(fd, "escaped\n", 8);
    close(fd);
    return tried(wrote);
}

int read_out(const char *path) {
    char buffer[2048];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return tried(-1);
    ssize_t length = read(fd, buffer, sizeof buffer - 1);
    int saved = errno;
    close(fd);
    errno = saved;
    if (length < 0) return tried(-1);
    for (ssize_t i = 0; i < length; i++) {
        if (buffer[i] == 0) buffer[i] = ' ';
    }
    buffer[length] = 0;
    printf("%s ", buffer);
    return length > 0 ? ESCAPED : REFUSED;
}

int opens(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    int answer = tried(fd);
    if (fd >= 0) close(fd);
    return answer;
}

static int started(char *const argv[]) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("OUT", joined(setting("OUT"), probe_name), 1);
        setenv("WS", setting("WS"), 1);
        setenv("HOME_", setting("HOME"), 1);
        setenv("NAME", probe_name, 1);
        execv(argv[0], argv);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return UNTRIED;
    if (!WIFEXITED(status)) return REFUSED;
    if (WEXITSTATUS(status) == 127) return UNTRIED;
    return WEXITSTATUS(status) == 0 ? ESCAPED : REFUSED;
}

int shell(const char *script) {
    char *argv[] = { "/bin/sh", "-c", (char *)script, 0 };
    return started(argv);
}

int python(const char *script) {
    char *argv[] = { "/usr/bin/python3", "-I", "-c", (char *)script, 0 };
    return started(argv);
}

int in_child(int (*run)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int answer = run();
        fflush(stdout);
        _exit(answer);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return UNTRIED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : REFUSED;
}

static void put(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, text, strlen(text)) < 0) perror(path);
    close(fd);
}

int enter_user_namespace(void) {
    char map[64];
    uid_t user = getuid();
    gid_t group = getgid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) return -1;
    put("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "0 %d 1", (int)user);
    put("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "0 %d 1", (int)group);
    put("/proc/self/gid_map", map);
    mount(0, "/", 0, MS_REC | MS_PRIVATE, 0);
    return 0;
}

int command_exists(const char *name) {
    static const char *const places[] = { "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin" };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (access(joined(places[i], name), X_OK) == 0) return 1;
    }
    return 0;
}

static const struct probe *found(const char *name) {
    for (int family = 0; family < FAMILY_COUNT; family++) {
        for (const struct probe *probe = FAMILIES[family]; probe->name; probe++) {
            if (strcmp(probe->name, name) == 0) return probe;
        }
    }
    return 0;
}

static int ran(const struct probe *probe) {
    probe_name = probe->name;
    alarm(8);
    int answer = probe->run();
    fflush(stdout);
    return answer;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* One probe in a process of its own; what it prints becomes the detail of its line. */
static void ran_apart(const char *name) {
    const struct probe *probe = found(name);
    char detail[3000];
    size_t used = 0;
    int ends[2], status = 0, answer = UNTRIED;
    if (!probe || pipe2(ends, O_CLOEXEC) < 0) {
        printf("%s\t2\tno such probe\n", name);
        return;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        _exit(ran(probe));
    }
    close(ends[1]);
    double end = now() + 9;
    /* A grandchild may hold the pipe: wait for the child, then take what is there. */
    int ended = child < 0;
    while (!ended && now() < end) {
        struct pollfd waiting = { ends[0], POLLIN, 0 };
        poll(&waiting, 1, 20);
        ended = waitpid(child, &status, WNOHANG) == child;
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        ssize_t length;
        char rest[512];
        while ((length = read(ends[0], used + 1 < sizeof detail ? detail + used : rest,
                              used + 1 < sizeof detail ? sizeof detail - 1 - used : sizeof rest)) > 0) {
            if (used + 1 < sizeof detail) used += (size_t)length;
        }
        if (length == 0 && !ended) ended = waitpid(child, &status, 0) == child;
    }
    if (!ended && child > 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    close(ends[0]);
    detail[used] = 0;
    for (size_t i = 0; i < used; i++) {
        if ((unsigned char)detail[i] < ' ') detail[i] = ' ';
    }
    if (child > 0) answer = WIFEXITED(status) ? WEXITSTATUS(status) : REFUSED;
    if (child > 0 && WIFSIGNALED(status)) {
        printf("%s\t%d\tsignal %d %s\n", name, answer, WTERMSIG(status), detail);
    } else {
        printf("%s\t%d\t%s\n", name, answer, detail);
    }
    fflush(stdout);
}

int main(int argc, char **argv) {
    const char *verb = argc > 1 ? argv[1] : "";
    signal(SIGPIPE, SIG_IGN);
    if (strcmp(verb, "list") == 0) {
        for (int family = 0; family < FAMILY_COUNT; family++) {
            for (const struct probe *probe = FAMILIES[family]; probe->name; probe++) {
                printf("%s\t%s\t%s\t%s\t%s\t%s\n", FAMILY_NAMES[family], probe->name, probe->judge, probe->needs, probe->where, probe->cve);
            }
        }
        return 0;
    }
    if (strcmp(verb, "run") == 0 && argc == 4) {
        const struct probe *probe = found(argv[3]);
        read_settings(argv[2]);
        printf("probe started\n");
        fflush(stdout);
        return probe ? ran(probe) : UNTRIED;
    }
    if (strcmp(verb, "batch") == 0 && argc > 3) {
        read_settings(argv[2]);
        setvbuf(stdout, 0, _IOLBF, 1 << 16);
        for (int i = 3; i < argc; i++) ran_apart(argv[i]);
        printf("end of batch\n");
        return 0;
    }
    if (strcmp(verb, "launch") == 0) return launch(argc, argv);
    if (strcmp(verb, "victim") == 0) return be_victim(argc, argv);
    if (strcmp(verb, "bomb") == 0) return be_bomb(argc, argv);
    if (strcmp(verb, "witness") == 0) return be_witness(argc, argv);
    if (strcmp(verb, "objects") == 0) return keep_objects();
    if (strcmp(verb, "handle") == 0 && argc == 3) return print_handle(argv[2]);
    if (strcmp(verb, "setcap") == 0 && argc == 3) return set_capability(argv[2]);
    if (strcmp(verb, "euid") == 0) return geteuid() == 0 && getuid() != 0 ? ESCAPED : REFUSED;
    if (strcmp(verb, "capable") == 0) return reached(syscall(SYS_acct, "/nonexistent/account"));
    fprintf(stderr, "probe list | run SETTING NAME | batch SETTING NAME…\n");
    return 2;
}
