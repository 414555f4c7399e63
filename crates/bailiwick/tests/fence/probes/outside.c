/* What the harness needs on its own side of the fence: a launcher that drops to a user, leaves descriptors open, gives
 * a terminal and forbids namespaces; victims; objects to share memory by; bombs that are small enough to be harmless. */
#include "probe.h"
#include <dirent.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <pty.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>

static void die(const char *what) {
    perror(what);
    exit(99);
}

#define NAMESPACES 0x7E020080u /* every CLONE_NEW* flag */
#define DENY BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

/* What a hardened container does: no namespaces, no mounts. */
int install_namespace_ban(void) {
    struct sock_filter filter[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setns, 9, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 8, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_umount2, 7, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pivot_root, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 2),
        DENY,
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void leak(const char *option, int flags) {
    char *path;
    int wanted = (int)strtol(option, &path, 10);
    int fd = open(path + 1, flags);
    if (fd < 0) die(path + 1);
    if (fd != wanted) {
        if (dup2(fd, wanted) < 0) die("dup2");
        close(fd);
    }
}

static void leak_socket(const char *option) {
    char *path;
    int wanted = (int)strtol(option, &path, 10);
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) die("connect");
    if (fd != wanted) {
        dup2(fd, wanted);
        close(fd);
    }
}

/* The caller's terminal: what is written to it is passed on, what was injected into it is told at the end. */
static int with_terminal(char **argv, const char *name_file, int rows, int columns) {
    struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns };
    int leader, follower;
    char name[128] = "";
    if (openpty(&leader, &follower, name, 0, &size) < 0) die("openpty");
    fcntl(leader, F_SETFD, FD_CLOEXEC);
    struct termios settings;
    tcgetattr(follower, &settings);
    settings.c_oflag &= ~(tcflag_t)OPOST;
    settings.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(follower, TCSANOW, &settings);
    if (name_file) {
        FILE *file = fopen(name_file, "a");
        if (file) {
            fprintf(file, "TERMINAL=%s\n", name);
            fclose(file);
        }
    }
    pid_t child = fork();
    if (child == 0) {
        setsid();
        ioctl(follower, TIOCSCTTY, 0);
        for (int fd = 0; fd < 3; fd++) dup2(follower, fd);
        if (follower > 2) close(follower);
        close(leader);
        execvp(argv[0], argv);
        die(argv[0]);
    }
    char bytes[4096], input[256];
    int status = 0, ended = 0, open_input = 1;
    while (1) {
        struct pollfd waiting[2] = { { leader, POLLIN, 0 }, { open_input ? 0 : -1, POLLIN, 0 } };
        int ready = poll(waiting, 2, ended ? 30 : 100);
        if (ready > 0 && (waiting[0].revents & POLLIN)) {
            ssize_t length = read(leader, bytes, sizeof bytes);
            if (length > 0 && write(1, bytes, (size_t)length) < 0) break;
            continue;
        }
        if (ready > 0 && waiting[1].revents) {
            ssize_t length = read(0, input, sizeof input);
            if (length <= 0) open_input = 0;
            else if (write(leader, input, (size_t)length) < 0) break;
            continue;
        }
        if (ended) break;
        ended = waitpid(child, &status, WNOHANG) == child;
    }
    fcntl(follower, F_SETFL, O_NONBLOCK);
    ssize_t length = read(follower, input, sizeof input - 1);
    if (length > 0) {
        input[length] = 0;
        dprintf(1, "\nleft in the terminal: %s\n", input);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* launch [-u UID:GID] [-o FD:FILE] [-r FD:FILE] [-d FD:DIRECTORY] [-s FD:SOCKET] [-c FD] [-n] [-t FILE|-] [-z ROWSxCOLUMNS] [-p FILE] -- PROGRAM… */
int launch(int argc, char **argv) {
    int option, ban = 0, rows = 24, columns = 80, terminal = 0;
    const char *terminal_file = 0, *pid_file = 0;
    unsigned user = 0, group = 0;
    int change_user = 0;
    optind = 2;
    while ((option = getopt(argc, argv, "+u:o:r:d:s:c:nt:z:p:")) != -1) {
        switch (option) {
        case 'u':
            change_user = sscanf(optarg, "%u:%u", &user, &group) == 2;
            if (setgroups(0, 0) < 0 || setresgid(group, group, group) < 0 || setresuid(user, user, user) < 0) die("user");
            prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
            break;
        case 'o': leak(optarg, O_WRONLY | O_APPEND); break;
        case 'r': leak(optarg, O_RDONLY); break;
        case 'd': leak(optarg, O_RDONLY | O_DIRECTORY); break;
        case 's': leak_socket(optarg); break;
        case 'c': close(atoi(optarg)); break;
        case 'n': ban = 1; break;
        case 't': terminal = 1; terminal_file = strcmp(optarg, "-") ? optarg : 0; break;
        case 'z': sscanf(optarg, "%dx%d", &rows, &columns); break;
        case 'p': pid_file = optarg; break;
        default: return 99;
        }
    }
    (void)change_user;
    signal(SIGPIPE, SIG_DFL);
    if (pid_file) {
        FILE *file = fopen(pid_file, "w");
        if (!file) die(pid_file);
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
    }
    if (ban && install_namespace_ban() < 0) die("namespace ban");
    if (optind >= argc) return 99;
    if (terminal) return with_terminal(argv + optind, terminal_file, rows, columns);
    execvp(argv[optind], argv + optind);
    die(argv[optind]);
    return 99;
}

static const char *victim_directory;
static void noted(int number) {
    char path[4200];
    (void)number;
    snprintf(path, sizeof path, "%s/signalled", victim_directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd >= 0) close(fd);
}

/* victim DIRECTORY: prints its secret's address, waits for the end of its input, then says by its exit code whether
 * it is as it was. The secret is in its environment, under SECRET. */
int be_victim(int argc, char **argv) {
    static char secret[4096] __attribute__((aligned(4096)));
    if (argc < 3) return 99;
    victim_directory = argv[2];
    const char *value = getenv("SECRET");
    snprintf(secret, sizeof secret, "%s", value ? value : "");
    setpgid(0, 0);
    int numbers[] = { SIGUSR1, SIGUSR2, SIGTERM, SIGURG, SIGHUP, SIGINT, SIGIO };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction action = { .sa_handler = noted, .sa_flags = SA_RESTART };
        sigaction(numbers[i], &action, 0);
    }
    if (chdir(victim_directory) < 0) die(victim_directory);
    int fd = open("file", O_WRONLY | O_APPEND);
    if (fd < 0 || dup2(fd, 9) < 0) die("file");
    if (fd != 9) close(fd);
    struct rlimit limits_before, limits_after;
    cpu_set_t set_before, set_after;
    int nice_before = getpriority(PRIO_PROCESS, 0);
    int scheduler_before = sched_getscheduler(0);
    long io_before = syscall(SYS_ioprio_get, 1, 0);
    char score_before[32] = "", score_after[32] = "";
    getrlimit(RLIMIT_NOFILE, &limits_before);
    sched_getaffinity(0, sizeof set_before, &set_before);
    int score = open("/proc/self/oom_score_adj", O_RDONLY);
    if (score < 0 || pread(score, score_before, 31, 0) < 0) die("score");
    printf("%lx\n", (unsigned long)secret);
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) {}
    getrlimit(RLIMIT_NOFILE, &limits_after);
    sched_getaffinity(0, sizeof set_after, &set_after);
    if (pread(score, score_after, 31, 0) < 0) die("score");
    if (access("signalled", F_OK) == 0) return 7;
    if (strcmp(secret, value ? value : "") != 0) return 8;
    if (nice_before != getpriority(PRIO_PROCESS, 0)) return 9;
    if (scheduler_before != sched_getscheduler(0)) return 10;
    if (io_before != syscall(SYS_ioprio_get, 1, 0)) return 11;
    if (limits_before.rlim_cur != limits_after.rlim_cur) return 12;
    if (!CPU_EQUAL(&set_before, &set_after)) return 13;
    if (strcmp(score_before, score_after) != 0) return 14;
    return 0;
}

/* Objects of System V and POSIX that others could open; printed as settings, removed at the end of the input. */
int keep_objects(void) {
    const char *secret = getenv("SECRET");
    if (!secret) return 99;
    key_t key = (key_t)(0x42410000 + (getpid() & 0xffff));
    int shm = shmget(key, 4096, IPC_CREAT | 0600), shm2 = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    int sem = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    int msg = msgget(IPC_PRIVATE, IPC_CREAT | 0600), msg2 = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    char *bytes = shmat(shm, 0, 0);
    if (bytes == (void *)-1 || shm2 < 0 || sem < 0 || msg < 0 || msg2 < 0) die("objects");
    strcpy(bytes, secret);
    struct { long type; char text[200]; } sent = { 1, "" };
    snprintf(sent.text, sizeof sent.text, "%s", secret);
    if (msgsnd(msg, &sent, strlen(sent.text), 0) < 0) die("msgsnd");
    char name[64], segment[64];
    snprintf(name, sizeof name, "/bailiwick-queue-%d", (int)getpid());
    snprintf(segment, sizeof segment, "/bailiwick-segment-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, 0);
    if (queue != (mqd_t)-1) mq_send(queue, secret, strlen(secret), 0);
    int fd = shm_open(segment, O_CREAT | O_RDWR, 0600);
    if (fd < 0 || write(fd, secret, strlen(secret)) < 0) die("shm_open");
    printf("SHM_ID=%d\nSHM_ID_2=%d\nSEM_ID=%d\nMSG_ID=%d\nMSG_ID_2=%d\nIPC_KEY=%ld\nMQ_NAME=%s\nPOSIX_SHM=%s\n.\n", shm, shm2, sem, msg, msg2, (long)key, name, segment);
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) {}
    shmctl(shm, IPC_RMID, 0);
    shmctl(shm2, IPC_RMID, 0);
    semctl(sem, 0, IPC_RMID);
    msgctl(msg, IPC_RMID, 0);
    msgctl(msg2, IPC_RMID, 0);
    mq_unlink(name);
    shm_unlink(segment);
    return 0;
}

int print_handle(const char *path) {
    struct { struct file_handle head; unsigned char bytes[128]; } handle = { .head = { .handle_bytes = 128 } };
    int mount;
    if (name_to_handle_at(AT_FDCWD, path, &handle.head, &mount, 0) < 0) return 1;
    printf("%u:%u:", (unsigned)handle.head.handle_type, handle.head.handle_bytes);
    for (unsigned i = 0; i < handle.head.handle_bytes; i++) printf("%02x", handle.bytes[i]);
    printf("\n");
    return 0;
}

int set_capability(const char *path) {
    /* Revision 2, effective, with the right to account for processes (number 20), which the probe then uses. */
    unsigned char value[20] = { 1, 0, 0, 2, 0, 0, 0x10 };
    if (setxattr(path, "security.capability", value, sizeof value, 0) < 0) die(path);
    return 0;
}

/* bomb KIND AMOUNT: prints how far it came, as one number. */
int be_bomb(int argc, char **argv) {
    if (argc < 4) return 99;
    long amount = atol(argv[3]), done = 0;
    if (strcmp(argv[2], "fork") == 0) {
        for (; done < amount; done++) {
            pid_t child = fork();
            if (child < 0) break;
            if (child == 0) {
                usleep(900 * 1000);
                _exit(0);
            }
        }
        printf("%ld\n", done);
        fflush(stdout);
        while (wait(0) > 0) {}
        return 0;
    }
    if (strcmp(argv[2], "thread-memory") == 0) {
        /* Four processes with a quarter each: a limit of one process does not see the sum. */
        int ends[2];
        if (pipe(ends) < 0) return 99;
        for (int i = 0; i < 4; i++) {
            if (fork() == 0) {
                for (long n = 0; n < amount / 4; n++) {
                    char *bytes = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                    if (bytes == MAP_FAILED) break;
                    memset(bytes, 1, 1 << 20);
                    if (write(ends[1], "x", 1) < 0) break;
                }
                usleep(700 * 1000);
                _exit(0);
            }
        }
        close(ends[1]);
        char byte;
        while (read(ends[0], &byte, 1) > 0) done++;
        while (wait(0) > 0) {}
        printf("%ld\n", done);
        return 0;
    }
    setvbuf(stdout, 0, _IONBF, 0);
    if (strcmp(argv[2], "memory") == 0) {
        for (; done < amount; done++) {
            char *bytes = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (bytes == MAP_FAILED) break;
            memset(bytes, 1, 1 << 20);
            if (done % 16 == 15) printf("%ld\n", done + 1);
        }
    } else if (strcmp(argv[2], "descriptors") == 0) {
        while (done < amount && open("/dev/null", O_RDONLY) >= 0) done++;
    } else if (strcmp(argv[2], "file") == 0 && argc > 4) {
        static char block[1 << 20];
        signal(SIGXFSZ, SIG_IGN);
        int fd = open(argv[4], O_WRONLY | O_CREAT | O_TRUNC, 0600);
        while (fd >= 0 && done < amount && write(fd, block, sizeof block) == (ssize_t)sizeof block) done++;
        unlink(argv[4]);
    } else if (strcmp(argv[2], "files") == 0 && argc > 4) {
        /* Many files, each beneath any limit of one file. */
        static char block[1 << 20];
        char name[4200];
        for (int n = 0; done < amount; n++) {
            snprintf(name, sizeof name, "%s/fill-%d", argv[4], n);
            int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
            if (fd < 0) break;
            int before = (int)done;
            while (done < amount && done - before < 32 && write(fd, block, sizeof block) == (ssize_t)sizeof block) done++;
            close(fd);
            if (done == before) break;
        }
        for (int n = 0; n < 4096; n++) {
            snprintf(name, sizeof name, "%s/fill-%d", argv[4], n);
            if (unlink(name) < 0) break;
        }
    } else if (strcmp(argv[2], "spin") == 0) {
        time_t end = time(0) + amount;
        while (time(0) < end) done++;
        printf("spun\n");
        return 0;
    } else if (strcmp(argv[2], "output") == 0) {
        static char block[1 << 16];
        memset(block, 'y', sizeof block);
        while (done < amount && write(2, block, sizeof block) > 0) done++;
    } else {
        return 99;
    }
    printf("%ld\n", done);
    return 0;
}

/* witness daemon FILE: leaves a process that has nothing to do with us and writes FILE every 50 ms for 10 s.
 * witness ignore FILE: the same in the foreground, deaf to every signal that can be ignored.
 * witness descriptors: the descriptors and the environment that there are. */
int be_witness(int argc, char **argv) {
    if (argc < 3) return 99;
    if (strcmp(argv[2], "descriptors") == 0) {
        DIR *directory = opendir("/proc/self/fd");
        struct dirent *entry;
        if (!directory) die("/proc/self/fd");
        while ((entry = readdir(directory))) {
            int fd = atoi(entry->d_name);
            if (entry->d_name[0] != '.' && fd != dirfd(directory)) printf("fd %d\n", fd);
        }
        extern char **environ;
        for (char **one = environ; *one; one++) printf("env %s\n", *one);
        return 0;
    }
    if (argc < 4) return 99;
    if (strcmp(argv[2], "daemon") == 0) {
        if (fork() > 0) {
            if (argc > 4) sleep((unsigned)atoi(argv[4]));
            return 0;
        }
        setsid();
        if (fork() > 0) _exit(0);
    }
    for (int number = 1; number < 64; number++) signal(number, SIG_IGN);
    if (strcmp(argv[2], "daemon") == 0) {
        for (int fd = 0; fd < 3; fd++) close(fd);
        open("/dev/null", O_RDWR);
    }
    for (int turn = 0; turn < 200; turn++) {
        int fd = open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (fd >= 0) {
            if (write(fd, ".", 1) < 0) _exit(1);
            close(fd);
        }
        usleep(50000);
    }
    return 0;
}
