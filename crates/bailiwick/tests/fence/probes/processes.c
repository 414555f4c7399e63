/* Reaching processes outside. The victim of a probe is a process of the same user that holds a secret in its memory
 * and in its environment, descriptor 9 open for writing and its working directory outside; it tells the harness in
 * the end whether anything about it was changed. */
#include "probe.h"
#include <linux/kcmp.h>
#include <mqueue.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <sys/user.h>

static const char *of_victim(const char *what) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", (int)victim());
    return joined(path, what);
}

static pid_t supervisor(void) {
    char text[32] = "";
    FILE *file = fopen(workspace("supervisor.pid"), "r");
    if (!file) return 0;
    if (!fgets(text, sizeof text, file)) text[0] = 0;
    fclose(file);
    return (pid_t)atoi(text);
}

static int signal_victim(void) { return tried(kill(victim(), SIGUSR1)); }
static int kill_victim(void) { return tried(kill(victim(), SIGKILL)); }
static int stop_victim(void) { return tried(kill(victim(), SIGTERM)); }
static int signal_thread(void) { return tried(syscall(SYS_tkill, victim(), SIGUSR1)); }
static int signal_thread_group(void) { return tried(syscall(SYS_tgkill, victim(), victim(), SIGUSR1)); }
static int signal_queue(void) {
    union sigval value = { .sival_int = 1 };
    return tried(sigqueue(victim(), SIGUSR1, value));
}
static int signal_group(void) { return tried(kill(-victim(), SIGUSR1)); }
static int signal_everybody(void) { return tried(kill(-1, SIGURG)); } /* ignored by whoever does not ask for it */
static int signal_by_owner(void) {
    /* The kernel sends the signal on our behalf when the pipe gets data. */
    int ends[2];
    if (pipe(ends) < 0) return UNTRIED;
    if (fcntl(ends[0], F_SETOWN, victim()) < 0) return tried(-1);
    if (fcntl(ends[0], F_SETSIG, SIGUSR1) < 0 || fcntl(ends[0], F_SETFL, O_ASYNC) < 0) return tried(-1);
    if (write(ends[1], "x", 1) != 1) return UNTRIED;
    return ESCAPED;
}
static int process_descriptor(void) { return (int)syscall(SYS_pidfd_open, victim(), 0); }
static int signal_by_descriptor(void) {
    int fd = process_descriptor();
    return fd < 0 ? tried(-1) : tried(syscall(SYS_pidfd_send_signal, fd, SIGUSR1, 0, 0));
}
static int signal_by_proc_directory(void) {
    int fd = open(of_victim(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? tried(-1) : tried(syscall(SYS_pidfd_send_signal, fd, SIGUSR1, 0, 0));
}
static int steal_descriptor(void) {
    int fd = process_descriptor();
    if (fd < 0) return tried(-1);
    int stolen = (int)syscall(SYS_pidfd_getfd, fd, 9, 0);
    return stolen < 0 ? tried(-1) : tried(write(stolen, "escaped\n", 8));
}
static int attach(void) {
    if (ptrace(PTRACE_ATTACH, victim(), 0, 0) < 0) return tried(-1);
    int status;
    waitpid(victim(), &status, __WALL);
    long result = ptrace(PTRACE_POKEDATA, victim(), victim_address(), 0x6570616373656465);
    ptrace(PTRACE_DETACH, victim(), 0, 0);
    return tried(result);
}
static int seize(void) {
    if (ptrace(PTRACE_SEIZE, victim(), 0, 0) < 0) return tried(-1);
    ptrace(PTRACE_INTERRUPT, victim(), 0, 0);
    int status;
    waitpid(victim(), &status, __WALL);
    long word = ptrace(PTRACE_PEEKDATA, victim(), victim_address(), 0);
    printf("%.8s ", (char *)&word);
    ptrace(PTRACE_DETACH, victim(), 0, 0);
    return word == -1 ? REFUSED : ESCAPED;
}
static int memory_read(void) {
    char text[128] = "";
    struct iovec local = { text, 100 }, remote = { (void *)victim_address(), 100 };
    long length = process_vm_readv(victim(), &local, 1, &remote, 1, 0);
    printf("%s ", text);
    return tried(length);
}
static int memory_write(void) {
    char text[] = "escaped";
    struct iovec local = { text, 7 }, remote = { (void *)victim_address(), 7 };
    return tried(process_vm_writev(victim(), &local, 1, &remote, 1, 0));
}
static int memory_file_read(void) {
    char text[128] = "";
    int fd = open(of_victim("mem"), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tried(-1);
    long length = pread(fd, text, 100, (off_t)victim_address());
    printf("%s ", text);
    return tried(length);
}
static int memory_file_write(void) {
    int fd = open(of_victim("mem"), O_RDWR | O_CLOEXEC);
    return fd < 0 ? tried(-1) : tried(pwrite(fd, "escaped", 7, (off_t)victim_address()));
}
static int memory_advise(void) {
    struct iovec remote = { (void *)(victim_address() & ~4095UL), 4096 };
    int fd = process_descriptor();
    return fd < 0 ? tried(-1) : tried(syscall(SYS_process_madvise, fd, &remote, 1, 20 /* MADV_COLD */, 0));
}
static int memory_move(void) {
    void *page = (void *)(victim_address() & ~4095UL);
    int status = 0;
    return tried(syscall(SYS_move_pages, victim(), 1, &page, 0, &status, 0));
}
static int environment(void) { return read_out(of_victim("environ")); }
static int command_line(void) { return read_out(of_victim("cmdline")); }
static int maps(void) { return read_out(of_victim("maps")); }
static int descriptors(void) {
    char text[4096] = "";
    long length = readlink(of_victim("fd/9"), text, sizeof text - 1);
    printf("%s ", text);
    return tried(length);
}
static int directory(void) {
    char text[4096] = "";
    long length = readlink(of_victim("cwd"), text, sizeof text - 1);
    printf("%s ", text);
    return tried(length);
}
static int directory_file(void) { return read_out(of_victim("cwd/secret")); }
static int name_change(void) {
    int fd = open(of_victim("comm"), O_WRONLY | O_CLOEXEC);
    return fd < 0 ? tried(-1) : tried(write(fd, "escaped", 7));
}
static int out_of_memory_score(void) {
    int fd = open(of_victim("oom_score_adj"), O_WRONLY | O_CLOEXEC);
    return fd < 0 ? tried(-1) : tried(write(fd, "1000", 4));
}
static int core_filter(void) {
    int fd = open(of_victim("coredump_filter"), O_WRONLY | O_CLOEXEC);
    return fd < 0 ? tried(-1) : tried(write(fd, "0x7f", 4));
}
static int limit(void) {
    struct rlimit limits = { 17, 17 };
    return tried(prlimit(victim(), RLIMIT_NOFILE, &limits, 0));
}
static int limit_read(void) {
    struct rlimit limits;
    return tried(prlimit(victim(), RLIMIT_NOFILE, 0, &limits));
}
static int priority(void) { return tried(setpriority(PRIO_PROCESS, (id_t)victim(), 19)); }
static int priority_of_user(void) {
    /* Every process of the user; the victim is one. The value is what they have: nothing changes for the others. */
    return tried(setpriority(PRIO_PGRP, (id_t)victim(), 7));
}
static int affinity(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    return tried(sched_setaffinity(victim(), sizeof set, &set));
}
static int scheduler(void) {
    struct sched_param parameter = { 0 };
    return tried(sched_setscheduler(victim(), SCHED_BATCH, &parameter));
}
static int io_priority(void) { return tried(syscall(SYS_ioprio_set, 1, victim(), (2 << 13) | 7)); }
static int compare(void) { return tried(syscall(SYS_kcmp, getpid(), victim(), KCMP_FILE, 1, 1)); }
static int session_of(void) { return tried(getsid(victim())); }
static int supervisor_signal(void) {
    pid_t pid = supervisor();
    return pid > 0 ? tried(kill(pid, 0)) : UNTRIED;
}
static int supervisor_trace(void) {
    pid_t pid = supervisor();
    if (pid <= 0) return UNTRIED;
    if (ptrace(PTRACE_SEIZE, pid, 0, 0) < 0) return tried(-1);
    ptrace(PTRACE_DETACH, pid, 0, 0);
    return ESCAPED;
}
static int supervisor_limits(void) {
    struct rlimit limits;
    pid_t pid = supervisor();
    return pid > 0 ? tried(prlimit(pid, RLIMIT_CORE, 0, &limits)) : UNTRIED;
}
static int supervisor_memory(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)supervisor());
    return opens(path, O_RDWR);
}
static int init_memory(void) { return opens("/proc/1/mem", O_RDWR); }
static int init_trace(void) {
    if (ptrace(PTRACE_SEIZE, 1, 0, 0) < 0) return tried(-1);
    ptrace(PTRACE_DETACH, 1, 0, 0);
    return ESCAPED;
}
static int enters(const char *kind) {
    int fd = open(of_victim(kind), O_RDONLY | O_CLOEXEC);
    return fd < 0 ? tried(-1) : tried(setns(fd, 0));
}
static int enter_mounts(void) { return enters("ns/mnt"); }
static int enter_network(void) { return enters("ns/net"); }
static int enter_processes(void) { return enters("ns/pid"); }
static int enter_by_descriptor(void) {
    int fd = process_descriptor();
    return fd < 0 ? tried(-1) : tried(setns(fd, CLONE_NEWNET));
}

static int shared_segment(void) {
    char *bytes = shmat((int)setting_number("SHM_ID"), 0, 0);
    if (bytes == (void *)-1) return tried(-1);
    printf("%.100s ", bytes);
    return ESCAPED;
}
static int shared_segment_removed(void) { return tried(shmctl((int)setting_number("SHM_ID_2"), IPC_RMID, 0)); }
static int shared_segment_by_key(void) { return tried(shmget((key_t)setting_number("IPC_KEY"), 0, 0)); }
static int semaphore(void) {
    struct sembuf up = { 0, 1, IPC_NOWAIT };
    return tried(semop((int)setting_number("SEM_ID"), &up, 1));
}
static int message(void) {
    struct { long type; char text[200]; } got = { 0, "" };
    long length = msgrcv((int)setting_number("MSG_ID"), &got, sizeof got.text - 1, 0, IPC_NOWAIT | MSG_NOERROR);
    printf("%s ", got.text);
    return tried(length);
}
static int message_sent(void) {
    struct { long type; char text[8]; } sent = { 1, "escaped" };
    return tried(msgsnd((int)setting_number("MSG_ID_2"), &sent, 7, IPC_NOWAIT));
}
static int posix_queue(void) {
    mqd_t queue = mq_open(setting("MQ_NAME"), O_RDONLY | O_NONBLOCK);
    char text[8192] = "";
    if (queue == (mqd_t)-1) return tried(-1);
    long length = mq_receive(queue, text, sizeof text, 0);
    printf("%.100s ", text);
    return tried(length);
}
static int posix_segment(void) {
    char text[128] = "";
    int fd = shm_open(setting("POSIX_SHM"), O_RDWR, 0);
    if (fd < 0) return tried(-1);
    long length = read(fd, text, 100);
    printf("%s ", text);
    return tried(length);
}

static int writes(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? tried(-1) : tried(write(fd, text, strlen(text)));
}
/* A control writes back what is there, so that the machine stays as it is. */
static int written_back(const char *path) {
    char text[512] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tried(-1);
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    return length < 0 ? tried(-1) : writes(path, text);
}
static int core_pattern(void) { return written_back("/proc/sys/kernel/core_pattern"); }
static int sysctl_forward(void) { return written_back("/proc/sys/net/ipv4/ip_forward"); }
static int sysctl_overcommit(void) { return written_back("/proc/sys/vm/overcommit_memory"); }
static int sysctl_hostname(void) { return written_back("/proc/sys/kernel/hostname"); }
static int sysctl_pid_max(void) { return written_back("/proc/sys/kernel/pid_max"); }
static int sysctl_panic(void) { return written_back("/proc/sys/kernel/panic"); }
static int sysctl_protected(void) { return written_back("/proc/sys/fs/protected_symlinks"); }
static int sysctl_modprobe(void) { return written_back("/proc/sys/kernel/modprobe"); }
static int sysrq(void) { return opens("/proc/sysrq-trigger", O_WRONLY); }
static int binfmt(void) { return opens("/proc/sys/fs/binfmt_misc/register", O_WRONLY); }
static int interrupt(void) { return opens("/proc/irq/default_smp_affinity", O_WRONLY); }
static int uevent_helper(void) { return opens("/sys/kernel/uevent_helper", O_WRONLY); }
static int device_attribute(void) { return opens("/sys/class/net/lo/mtu", O_WRONLY); }
static int block_attribute(void) { return shell("for f in /sys/block/*/queue/read_ahead_kb; do : >> $f && exit 0; done; exit 1"); }
static int cgroup_move(void) { return shell("for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do : >> $f && exit 0; done 2>/dev/null; exit 1"); }
static int cgroup_new(void) { return shell("for d in /sys/fs/cgroup /sys/fs/cgroup/freezer; do mkdir $d/escaped-$$ && rmdir $d/escaped-$$ && exit 0; done 2>/dev/null; exit 1"); }
static int release_agent(void) { return shell("for f in /sys/fs/cgroup/*/release_agent; do : >> $f && exit 0; done 2>/dev/null; exit 1"); }
static int cgroup_mount(void) {
    if (unshare(CLONE_NEWNS) == 0) mount(0, "/", 0, MS_REC | MS_PRIVATE, 0);
    mkdir(workspace("cg"), 0755);
    return tried(mount("none", workspace("cg"), "cgroup2", 0, 0));
}

const struct probe PROCESSES[] = {
    { "signal_victim", "victim", "", "", "", signal_victim },
    { "kill_victim", "victim", "", "", "", kill_victim },
    { "terminate_victim", "victim", "", "", "", stop_victim },
    { "signal_thread", "victim", "", "", "", signal_thread },
    { "signal_thread_group", "victim", "", "", "", signal_thread_group },
    { "signal_queue", "victim", "", "", "", signal_queue },
    { "signal_group", "victim", "", "", "", signal_group },
    { "signal_everybody", "victim", "", "", "", signal_everybody },
    { "signal_by_owner", "victim", "", "", "", signal_by_owner },
    { "signal_by_descriptor", "victim", "", "", "", signal_by_descriptor },
    { "signal_by_proc_directory", "victim", "", "", "", signal_by_proc_directory },
    { "steal_descriptor", "files", "", "", "", steal_descriptor },
    { "trace_attach", "victim", "", "", "", attach },
    { "trace_seize", "exit", "", "", "", seize },
    { "memory_read", "leak", "", "", "", memory_read },
    { "memory_write", "victim", "", "", "", memory_write },
    { "memory_file_read", "leak", "", "", "", memory_file_read },
    { "memory_file_write", "victim", "", "", "", memory_file_write },
    { "memory_advise", "exit", "kernel,root", "", "", memory_advise },
    { "memory_move", "exit", "kernel", "", "", memory_move },
    { "victim_environment", "leak", "", "", "", environment },
    { "victim_command_line", "leak", "", "", "", command_line },
    { "victim_maps", "exit", "", "", "", maps },
    { "victim_descriptors", "exit", "", "", "", descriptors },
    { "victim_directory", "exit", "", "", "", directory },
    { "victim_directory_file", "leak", "", "", "", directory_file },
    { "victim_name", "exit", "root,kernel", "", "", name_change },
    { "victim_out_of_memory_score", "victim", "", "", "", out_of_memory_score },
    { "victim_core_filter", "exit", "", "", "", core_filter },
    { "victim_limit", "victim", "", "", "", limit },
    { "victim_limit_read", "exit", "", "", "", limit_read },
    { "victim_priority", "victim", "", "", "", priority },
    { "victim_priority_of_group", "victim", "", "", "", priority_of_user },
    { "victim_affinity", "victim", "", "", "", affinity },
    { "victim_scheduler", "victim", "", "", "", scheduler },
    { "victim_io_priority", "victim", "", "", "", io_priority },
    { "victim_compare", "exit", "", "", "", compare },
    { "victim_session", "exit", "", "", "", session_of },
    { "supervisor_signal", "exit", "", "", "", supervisor_signal },
    { "supervisor_trace", "exit", "", "", "", supervisor_trace },
    { "supervisor_limits", "exit", "", "", "", supervisor_limits },
    { "supervisor_memory", "exit", "", "", "", supervisor_memory },
    { "init_memory", "exit", "root,kernel", "", "", init_memory },
    { "init_trace", "exit", "root,kernel", "", "", init_trace },
    { "enter_mount_namespace", "exit", "root", "", "", enter_mounts },
    { "enter_network_namespace", "exit", "root", "", "", enter_network },
    { "enter_process_namespace", "exit", "root", "", "", enter_processes },
    { "enter_by_process_descriptor", "exit", "root", "", "", enter_by_descriptor },
    { "shared_segment", "leak", "", "", "", shared_segment },
    { "shared_segment_removed", "exit", "", "", "", shared_segment_removed },
    { "shared_segment_by_key", "exit", "", "", "", shared_segment_by_key },
    { "semaphore", "exit", "", "", "", semaphore },
    { "message_queue_read", "leak", "", "", "", message },
    { "message_queue_written", "exit", "", "", "", message_sent },
    { "posix_queue", "leak", "kernel", "", "", posix_queue },
    { "posix_segment", "leak", "", "", "", posix_segment },
    { "core_pattern", "exit", "root", "", "", core_pattern },
    { "sysctl_forward", "exit", "root", "", "", sysctl_forward },
    { "sysctl_overcommit", "exit", "root", "", "", sysctl_overcommit },
    { "sysctl_hostname", "exit", "root", "", "", sysctl_hostname },
    { "sysctl_pid_max", "exit", "root", "", "", sysctl_pid_max },
    { "sysctl_panic", "exit", "root", "", "", sysctl_panic },
    { "sysctl_protected_symlinks", "exit", "root", "", "", sysctl_protected },
    { "sysctl_modprobe", "exit", "root,kernel", "", "", sysctl_modprobe },
    { "sysrq_trigger", "exit", "root,kernel", "", "", sysrq },
    { "binfmt_register", "exit", "root,kernel", "", "", binfmt },
    { "interrupt_affinity", "exit", "root,kernel", "", "", interrupt },
    { "uevent_helper", "exit", "root,kernel", "", "", uevent_helper },
    { "device_attribute", "exit", "root", "", "", device_attribute },
    { "block_attribute", "exit", "root,kernel", "", "", block_attribute },
    { "cgroup_move", "exit", "root,kernel", "", "", cgroup_move },
    { "cgroup_new", "exit", "root,kernel", "", "", cgroup_new },
    { "cgroup_release_agent", "exit", "root,kernel", "", "", release_agent },
    { "cgroup_mount", "exit", "root,kernel", "", "", cgroup_mount },
    END
};
