/* Doors of the kernel that ordinary work does not need. Where the kernel checks the right before the arguments, the
 * arguments are wrong on purpose: an answer other than EPERM, EACCES or ENOSYS says that the door is open, and
 * nothing happens to the machine. */
#include "probe.h"
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/klog.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/user.h>
#include <sys/xattr.h>
#include <time.h>

static int bpf_map(void) {
    union bpf_attr attributes = { 0 };
    attributes.map_type = BPF_MAP_TYPE_ARRAY;
    attributes.key_size = 4;
    attributes.value_size = 4;
    attributes.max_entries = 1;
    return tried(syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
}
static int bpf_call(void) { return reached(syscall(SYS_bpf, 9999, 0, 0)); }
static int perf_event(void) {
    struct perf_event_attr attributes = { .type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .config = PERF_COUNT_SW_TASK_CLOCK };
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return tried(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}
static int io_uring(void) {
    char parameters[256] = { 0 };
    return tried(syscall(SYS_io_uring_setup, 4, parameters));
}
static int io_uring_register(void) { return reached(syscall(SYS_io_uring_register, -1, 99, 0, 0)); }
static int user_fault(void) { return tried(syscall(SYS_userfaultfd, O_CLOEXEC | 1)); }
static int key_add(void) { return tried(syscall(SYS_add_key, "user", "bailiwick-probe", "x", 1, -1 /* thread keyring */)); }
static int key_request(void) { return reached(syscall(SYS_request_key, "user", "bailiwick-none", 0, 0)); }
static int key_control(void) { return tried(syscall(SYS_keyctl, 0, -3 /* session keyring */, 1)); }
static int key_session(void) { return tried(syscall(SYS_keyctl, 1, "bailiwick-probe")); }
static int kexec(void) { return reached(syscall(SYS_kexec_load, 0, 0, 0, 0xffff)); }
static int kexec_file(void) { return reached(syscall(SYS_kexec_file_load, -1, -1, 0, 0, 0xffff)); }
static int module_init(void) { return reached(syscall(SYS_init_module, 0, 0, "")); }
static int module_file(void) { return reached(syscall(SYS_finit_module, -1, "", 0)); }
static int module_delete(void) { return reached(syscall(SYS_delete_module, "bailiwick_none", O_NONBLOCK)); }
static int swap_on(void) { return reached(swapon("/nonexistent/swap", 0)); }
static int swap_off(void) { return reached(swapoff("/nonexistent/swap")); }
static int account(void) { return reached(syscall(SYS_acct, "/nonexistent/account")); }
static int quota(void) { return reached(syscall(SYS_quotactl, 0x800001 << 8 /* Q_SYNC */, 0, 0, 0)); }
static int clock_zone(void) {
    struct timezone zone = { 0, 0 };
    struct timeval now;
    gettimeofday(&now, &zone);
    return tried(syscall(SYS_settimeofday, 0, &zone));
}
static int clock_adjust(void) {
    struct timex about = { 0 };
    adjtimex(&about);
    about.modes = ADJ_TICK; /* what it is already */
    return tried(adjtimex(&about));
}
static int clock_adjust_by_clock(void) {
    struct timex about = { 0 };
    clock_adjtime(CLOCK_REALTIME, &about);
    about.modes = ADJ_TICK;
    return tried(clock_adjtime(CLOCK_REALTIME, &about));
}
static int host_name(void) {
    char name[256] = "";
    gethostname(name, 255);
    return tried(sethostname(name, strlen(name)));
}
static int domain_name(void) {
    char name[256] = "";
    if (getdomainname(name, 255) < 0) return UNTRIED;
    return tried(setdomainname(name, strlen(name)));
}
static int restart(void) { return reached(syscall(SYS_reboot, 1, 2, 3, 0)); } /* wrong magic numbers */
static int kernel_log(void) {
    char text[512];
    return tried(klogctl(3, text, sizeof text));
}
static int kernel_log_size(void) { return tried(klogctl(10, 0, 0)); }
static int cookie(void) { return reached(syscall(SYS_lookup_dcookie, 0UL, 0, 0)); }
static int nfs(void) { return reached(syscall(SYS_nfsservctl, 0, 0, 0)); }
static int hang_up(void) {
    setsid(); /* without a terminal there is nothing to hang up */
    return tried(vhangup());
}
static int notify_files(void) { return tried(syscall(SYS_fanotify_init, 0x200 /* FAN_REPORT_FID */, 0)); }
static int notify_files_content(void) { return tried(syscall(SYS_fanotify_init, 4 /* FAN_CLASS_CONTENT */, 0)); }
static int local_table(void) {
    char entry[16] = { 0 };
    return reached(syscall(SYS_modify_ldt, 1, entry, sizeof entry));
}
static int port_level(void) { return reached(syscall(SYS_iopl, 3)); }
static int port_permission(void) { return reached(syscall(SYS_ioperm, 0x80, 1, 1)); }
static int real_time(void) {
    struct sched_param parameter = { .sched_priority = 1 };
    long result = sched_setscheduler(0, SCHED_FIFO, &parameter);
    int answer = tried(result);
    parameter.sched_priority = 0;
    sched_setscheduler(0, SCHED_OTHER, &parameter);
    return answer;
}
static int negative_nice(void) { return tried(setpriority(PRIO_PROCESS, 0, -5)); }
static int raise_limit(void) {
    struct rlimit limits;
    getrlimit(RLIMIT_NOFILE, &limits);
    limits.rlim_max += 1;
    return tried(setrlimit(RLIMIT_NOFILE, &limits));
}
static int other_user(void) { return tried(setresuid(1234, 1234, 1234)); }
static int other_groups(void) {
    gid_t group = 1234;
    return tried(syscall(SYS_setgroups, 1, &group));
}
static int capabilities(void) {
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    unsigned long long effective = 0, permitted = 0, bounding = 0;
    if (!file) return UNTRIED;
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "CapEff: %llx", &effective);
        sscanf(line, "CapPrm: %llx", &permitted);
        sscanf(line, "CapBnd: %llx", &bounding);
    }
    fclose(file);
    printf("%llx %llx %llx ", effective, permitted, bounding);
    return effective || permitted ? ESCAPED : REFUSED;
}
static int gain_by_setuid(void) { return getuid() == 0 ? UNTRIED : shell("\"$WS/gain-setuid\" euid"); }
static int gain_by_capability(void) { return shell("\"$WS/gain-capable\" capable"); }
static int gain_su(void) {
    if (getuid() == 0) return UNTRIED;
    /* su asks for a password unless its caller is root: that it asks as root of the system is seen in its euid. */
    return shell("(sleep 0.3; echo) | su -c true root >/dev/null 2>&1 & sleep 0.15; grep -qs '^Uid:.*[[:space:]]0[[:space:]]' /proc/$(pgrep -nx su)/status");
}
static int no_new_privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? REFUSED : ESCAPED; }

#define UNSHARES(function, kind) \
    static int function(void) { return tried(unshare(kind)); } \
    static int function##_as_user(void) { return tried(unshare(CLONE_NEWUSER | (kind))); }
UNSHARES(new_mounts, CLONE_NEWNS)
UNSHARES(new_processes, CLONE_NEWPID)
UNSHARES(new_network, CLONE_NEWNET)
UNSHARES(new_ipc, CLONE_NEWIPC)
UNSHARES(new_names, CLONE_NEWUTS)
UNSHARES(new_cgroup, CLONE_NEWCGROUP)
UNSHARES(new_time, 0x80)
static int new_user(void) { return tried(unshare(CLONE_NEWUSER)); }
static int cloned(unsigned long flags) {
    long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    if (child > 0) waitpid((pid_t)child, 0, 0);
    return tried(child);
}
static int clone_user(void) { return cloned(CLONE_NEWUSER); }
static int clone_network(void) { return cloned(CLONE_NEWUSER | CLONE_NEWNET); }
static int clone_mounts(void) { return cloned(CLONE_NEWUSER | CLONE_NEWNS); }
static int clone_upper_bits(void) {
    /* The upper half of the register is not looked at by the kernel; a filter that compares 64 bits would miss it. */
    return cloned(CLONE_NEWUSER | 0x100000000UL);
}
static int cloned3(uint64_t flags) {
    struct clone_args arguments = { .flags = flags, .exit_signal = SIGCHLD };
    long child = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0) _exit(0);
    if (child > 0) waitpid((pid_t)child, 0, 0);
    return tried(child);
}
static int clone3_user(void) { return cloned3(CLONE_NEWUSER); }
static int clone3_mounts(void) { return cloned3(CLONE_NEWUSER | CLONE_NEWNS); }
static int clone3_cgroup(void) {
    struct clone_args arguments = { .flags = 0x200000000ULL, .exit_signal = SIGCHLD };
    arguments.cgroup = (uint64_t)open("/sys/fs/cgroup/unified", O_RDONLY | O_DIRECTORY);
    if ((int)arguments.cgroup < 0) arguments.cgroup = (uint64_t)open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY);
    long child = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0) _exit(0);
    if (child > 0) waitpid((pid_t)child, 0, 0);
    return tried(child);
}

#ifdef __x86_64__
static long entry32(long number, long first) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(first) : "memory", "r8", "r9", "r10", "r11");
    return (int)result;
}
static int old_entry(void) {
    long pid = entry32(20, 0);
    if (pid == getpid()) return ESCAPED;
    errno = (int)-pid;
    return tried(-1);
}
static int old_entry_unshare(void) {
    long result = entry32(310, CLONE_NEWUSER);
    if (result < 0) errno = (int)-result;
    return tried(result < 0 ? -1 : 0);
}
static int x32_entry(void) { return tried(syscall(0x40000000 + SYS_getpid)); }
static int x32_entry_unshare(void) { return tried(syscall(0x40000000 + SYS_unshare, CLONE_NEWUSER)); }
#else
static int old_entry(void) { return UNTRIED; }
static int old_entry_unshare(void) { return UNTRIED; }
static int x32_entry(void) { return UNTRIED; }
static int x32_entry_unshare(void) { return UNTRIED; }
#endif

/* A filter of one's own cannot weaken the one above it. */
static int filter_then_unshare(void) {
    struct sock_filter allow[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    struct sock_fprog program = { 1, allow };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    return tried(unshare(CLONE_NEWUSER));
}
#ifdef __x86_64__
static int traced_unshare(void) {
    /* The tracer changes the number of a harmless call after it was made. */
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        long result = syscall(SYS_getppid);
        _exit(result == 0 ? ESCAPED : REFUSED);
    }
    int status;
    if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) return UNTRIED;
    int changed = 0;
    while (1) {
        if (ptrace(PTRACE_SYSCALL, child, 0, 0) < 0 || waitpid(child, &status, 0) < 0) return UNTRIED;
        if (WIFEXITED(status)) return WEXITSTATUS(status);
        if (WIFSIGNALED(status)) return REFUSED;
        struct user_regs_struct registers;
        ptrace(PTRACE_GETREGS, child, 0, &registers);
        if (!changed && registers.orig_rax == SYS_getppid) {
            registers.orig_rax = SYS_unshare;
            registers.rdi = CLONE_NEWUSER;
            ptrace(PTRACE_SETREGS, child, 0, &registers);
            changed = 1;
        }
    }
}
#else
static int traced_unshare(void) { return UNTRIED; }
#endif

static int block_device_made(void) {
    struct stat root;
    if (stat("/", &root) < 0) return UNTRIED;
    dev_t number = setting_number("ROOT_DEV") ? (dev_t)setting_number("ROOT_DEV") : root.st_dev;
    if (mknod(workspace("disk"), S_IFBLK | 0600, number) < 0) return tried(-1);
    return opens(workspace("disk"), O_RDONLY);
}
static int memory_device_made(void) {
    if (mknod(workspace("kmsg"), S_IFCHR | 0600, makedev(1, 11)) < 0) return tried(-1);
    return opens(workspace("kmsg"), O_RDONLY);
}
static int set_file_capability(void) {
    unsigned char value[20] = { 0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff };
    return tried(setxattr(workspace("gain-plain"), "security.capability", value, sizeof value, 0));
}
static int set_user_bit(void) {
    /* A setuid file that outlives the fence is a gift to whoever runs it outside; only for root does it matter. */
    if (getuid() != 0) return UNTRIED;
    if (chmod(workspace("gain-plain"), 04755) < 0) return tried(-1);
    struct stat about;
    stat(workspace("gain-plain"), &about);
    return about.st_mode & S_ISUID ? ESCAPED : REFUSED;
}

const struct probe KERNEL[] = {
    { "bpf_map", "exit", "root", "", "", bpf_map },
    { "bpf_call", "exit", "root", "", "", bpf_call },
    { "perf_event", "exit", "kernel", "", "", perf_event },
    { "io_uring_setup", "exit", "kernel", "", "", io_uring },
    { "io_uring_register", "exit", "kernel", "", "", io_uring_register },
    { "userfaultfd", "exit", "kernel", "", "", user_fault },
    { "key_add", "exit", "kernel", "", "", key_add },
    { "key_request", "exit", "kernel", "", "", key_request },
    { "key_control", "exit", "kernel", "", "", key_control },
    { "key_session", "exit", "kernel", "", "", key_session },
    { "kexec_load", "exit", "root,kernel", "", "", kexec },
    { "kexec_file_load", "exit", "root,kernel", "", "", kexec_file },
    { "module_init", "exit", "root,kernel", "", "", module_init },
    { "module_file", "exit", "root,kernel", "", "", module_file },
    { "module_delete", "exit", "root,kernel", "", "", module_delete },
    { "swap_on", "exit", "root", "", "", swap_on },
    { "swap_off", "exit", "root", "", "", swap_off },
    { "account", "exit", "root", "", "", account },
    { "quota", "exit", "kernel", "", "", quota },
    { "clock_zone", "exit", "root", "", "", clock_zone },
    { "clock_adjust", "exit", "root", "", "", clock_adjust },
    { "clock_adjust_by_clock", "exit", "root", "", "", clock_adjust_by_clock },
    { "host_name", "exit", "root", "", "", host_name },
    { "domain_name", "exit", "root", "", "", domain_name },
    { "reboot", "exit", "root", "", "", restart },
    { "kernel_log", "exit", "root,kernel", "", "", kernel_log },
    { "kernel_log_size", "exit", "root,kernel", "", "", kernel_log_size },
    { "lookup_cookie", "exit", "root,kernel", "", "", cookie },
    { "nfs_control", "exit", "root,kernel", "", "", nfs },
    { "hang_up", "exit", "root", "", "", hang_up },
    { "notify_files", "exit", "kernel", "", "", notify_files },
    { "notify_files_content", "exit", "root,kernel", "", "", notify_files_content },
    { "local_descriptor_table", "exit", "kernel", "", "", local_table },
    { "port_level", "exit", "root,kernel", "", "", port_level },
    { "port_permission", "exit", "root,kernel", "", "", port_permission },
    { "real_time", "exit", "root", "", "", real_time },
    { "negative_nice", "exit", "root", "", "", negative_nice },
    { "raise_limit", "exit", "root,kernel", "", "", raise_limit },
    { "other_user", "exit", "root", "", "", other_user },
    { "other_groups", "exit", "root", "", "", other_groups },
    { "capabilities", "exit", "root", "", "", capabilities },
    { "gain_by_setuid", "exit", "user", "", "", gain_by_setuid },
    { "gain_by_capability", "exit", "user", "", "", gain_by_capability },
    { "gain_by_su", "exit", "user,tool", "", "", gain_su },
    { "no_new_privileges", "exit", "", "", "", no_new_privileges },
    { "new_user_namespace", "exit", "kernel", "", "", new_user },
    { "new_mount_namespace", "exit", "root", "", "", new_mounts },
    { "new_process_namespace", "exit", "root", "", "", new_processes },
    { "new_network_namespace", "exit", "root", "", "", new_network },
    { "new_ipc_namespace", "exit", "root", "", "", new_ipc },
    { "new_name_namespace", "exit", "root", "", "", new_names },
    { "new_cgroup_namespace", "exit", "root", "", "", new_cgroup },
    { "new_time_namespace", "exit", "root,kernel", "", "", new_time },
    { "new_mount_namespace_as_user", "exit", "kernel", "", "", new_mounts_as_user },
    { "new_process_namespace_as_user", "exit", "kernel", "", "", new_processes_as_user },
    { "new_network_namespace_as_user", "exit", "kernel", "", "", new_network_as_user },
    { "new_ipc_namespace_as_user", "exit", "kernel", "", "", new_ipc_as_user },
    { "new_name_namespace_as_user", "exit", "kernel", "", "", new_names_as_user },
    { "new_cgroup_namespace_as_user", "exit", "kernel", "", "", new_cgroup_as_user },
    { "new_time_namespace_as_user", "exit", "kernel", "", "", new_time_as_user },
    { "clone_user", "exit", "kernel", "", "", clone_user },
    { "clone_network", "exit", "kernel", "", "", clone_network },
    { "clone_mounts", "exit", "kernel", "", "", clone_mounts },
    { "clone_upper_bits", "exit", "kernel", "", "", clone_upper_bits },
    { "clone3_user", "exit", "kernel", "", "", clone3_user },
    { "clone3_mounts", "exit", "kernel", "", "", clone3_mounts },
    { "clone3_cgroup", "exit", "root,kernel", "", "", clone3_cgroup },
    { "old_entry", "exit", "kernel", "", "GHSA-72w7-mf9g-733p", old_entry },
    { "old_entry_unshare", "exit", "kernel", "", "GHSA-72w7-mf9g-733p", old_entry_unshare },
    { "x32_entry", "exit", "kernel", "", "", x32_entry },
    { "x32_entry_unshare", "exit", "kernel", "", "", x32_entry_unshare },
    { "filter_then_unshare", "exit", "kernel", "", "", filter_then_unshare },
    { "traced_unshare", "exit", "kernel", "", "", traced_unshare },
    { "block_device_made", "exit", "root,kernel", "", "", block_device_made },
    { "kernel_device_made", "exit", "root", "", "", memory_device_made },
    { "file_capability_set", "exit", "root", "", "", set_file_capability },
    { "setuid_bit_set", "exit", "root", "", "", set_user_bit },
    END
};
