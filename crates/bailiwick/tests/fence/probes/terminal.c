/* The terminal of the caller, other terminals, and devices; and what the caller's environment brings in. */
#include "probe.h"
#include <termios.h>

#ifndef TIOCLINUX
#define TIOCLINUX 0x541C
#endif

static int injected(int fd, unsigned long request) {
    for (const char *next = "INJECTED\n"; *next; next++) {
        if (ioctl(fd, request, next) < 0) return tried(-1);
    }
    return ESCAPED;
}
static int first_terminal(void) {
    for (int fd = 0; fd < 3; fd++) {
        if (isatty(fd)) return fd;
    }
    return 0;
}
static int inject(void) { return injected(0, TIOCSTI); }
static int inject_upper(void) { return injected(0, TIOCSTI | 0x100000000UL); } /* CVE-2019-10063 */
static int inject_by_name(void) {
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
    return fd < 0 ? tried(-1) : injected(fd, TIOCSTI);
}
static int inject_by_path(void) {
    int fd = open(setting("TERMINAL"), O_RDWR | O_NOCTTY | O_CLOEXEC);
    return fd < 0 ? tried(-1) : injected(fd, TIOCSTI);
}
static int console_selection(void) {
    char subcode = 2;
    return tried(ioctl(first_terminal(), TIOCLINUX, &subcode));
}
static int console_selection_upper(void) {
    char subcode = 2;
    return tried(ioctl(first_terminal(), TIOCLINUX | 0x100000000UL, &subcode));
}
static int take_console(void) { return tried(ioctl(first_terminal(), TIOCCONS)); }
static int steal_terminal(void) {
    int stolen = open(setting("TERMINAL"), O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (stolen < 0) return tried(-1);
    if (setsid() < 0) return tried(-1);
    return tried(ioctl(stolen, TIOCSCTTY, 1));
}
static int other_terminal_write(void) {
    int fd = open(setting("OTHER_TERMINAL"), O_WRONLY | O_NOCTTY | O_CLOEXEC);
    return fd < 0 ? tried(-1) : tried(write(fd, "INJECTED\n", 9));
}
static int other_terminal_read(void) { return opens(setting("OTHER_TERMINAL"), O_RDONLY); }
static int all_terminals(void) { return shell("for t in /dev/pts/[0-9]*; do test $t != $(tty 2>/dev/null || echo none) && echo INJECTED > $t && exit 0; done 2>/dev/null; exit 1"); }

#define OPENS(function, path, flags) \
    static int function(void) { return opens(path, flags); }
OPENS(console, "/dev/console", O_WRONLY)
OPENS(memory, "/dev/mem", O_RDONLY)
OPENS(port, "/dev/port", O_RDONLY)
OPENS(kernel_messages, "/dev/kmsg", O_RDONLY)
OPENS(kernel_messages_written, "/dev/kmsg", O_WRONLY)
OPENS(loop_control, "/dev/loop-control", O_RDWR)
OPENS(loop_device, "/dev/loop0", O_RDONLY)
OPENS(fuse, "/dev/fuse", O_RDWR)
OPENS(kvm, "/dev/kvm", O_RDWR)
OPENS(tunnel, "/dev/net/tun", O_RDWR)
OPENS(serial, "/dev/ttyS0", O_WRONLY)
OPENS(virtual_terminal, "/dev/tty0", O_WRONLY)
OPENS(registers, "/dev/cpu/0/msr", O_RDONLY)
OPENS(input, "/dev/uinput", O_WRONLY)
OPENS(event, "/dev/input/event0", O_RDONLY)
OPENS(random_device, "/dev/hwrng", O_RDONLY)
OPENS(mapper, "/dev/mapper/control", O_RDWR)
OPENS(vhost, "/dev/vhost-net", O_RDWR)
OPENS(snapshot, "/dev/snapshot", O_RDONLY)
OPENS(real_time_clock, "/dev/rtc0", O_RDONLY)
OPENS(graphics, "/dev/dri/card0", O_RDWR)
OPENS(watchdog, "/dev/nvram", O_RDONLY)
OPENS(latency, "/dev/cpu_dma_latency", O_RDWR)
OPENS(automount, "/dev/autofs", O_RDONLY)
static int disk(void) {
    return shell("for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/xvda /dev/dm-0; do test -b $d && head -c1 $d >/dev/null && exit 0; done 2>/dev/null; exit 1");
}

const struct probe TERMINAL[] = {
    { "inject_into_terminal", "terminal", "terminal,kernel", "", "CVE-2017-5226", inject },
    { "inject_upper_bits", "terminal", "terminal,kernel", "", "CVE-2019-10063", inject_upper },
    { "inject_by_name", "terminal", "terminal,kernel", "", "CVE-2019-7303", inject_by_name },
    { "inject_by_path", "terminal", "terminal,kernel", "", "", inject_by_path },
    { "console_selection", "exit", "terminal,kernel", "", "CVE-2023-28100", console_selection },
    { "console_selection_upper_bits", "exit", "terminal,kernel", "", "CVE-2023-28100", console_selection_upper },
    { "take_console", "exit", "terminal,root,kernel", "", "", take_console },
    { "steal_terminal", "exit", "terminal,root,kernel", "", "", steal_terminal },
    { "other_terminal_write", "exit", "kernel", "", "", other_terminal_write },
    { "other_terminal_read", "exit", "kernel", "", "", other_terminal_read },
    { "all_terminals", "exit", "kernel", "", "", all_terminals },
    { "device_console", "exit", "root,kernel", "", "", console },
    { "device_memory", "exit", "root,kernel", "", "", memory },
    { "device_port", "exit", "root,kernel", "", "", port },
    { "device_kernel_messages", "exit", "kernel", "", "", kernel_messages },
    { "device_kernel_messages_written", "exit", "root,kernel", "", "", kernel_messages_written },
    { "device_disk", "exit", "root,kernel", "", "", disk },
    { "device_loop_control", "exit", "root,kernel", "", "", loop_control },
    { "device_loop", "exit", "root,kernel", "", "", loop_device },
    { "device_fuse", "exit", "root,kernel", "", "", fuse },
    { "device_kvm", "exit", "root,kernel", "", "", kvm },
    { "device_tunnel", "exit", "root,kernel", "", "", tunnel },
    { "device_serial", "exit", "root,kernel", "", "", serial },
    { "device_virtual_terminal", "exit", "root,kernel", "", "", virtual_terminal },
    { "device_registers", "exit", "root,kernel", "", "", registers },
    { "device_input", "exit", "root,kernel", "", "", input },
    { "device_event", "exit", "root,kernel", "", "", event },
    { "device_random", "exit", "root,kernel", "", "", random_device },
    { "device_mapper", "exit", "root,kernel", "", "", mapper },
    { "device_vhost", "exit", "root,kernel", "", "", vhost },
    { "device_snapshot", "exit", "root,kernel", "", "", snapshot },
    { "device_clock", "exit", "root,kernel", "", "", real_time_clock },
    { "device_graphics", "exit", "root,kernel", "", "", graphics },
    { "device_nvram", "exit", "root,kernel", "", "", watchdog },
    { "device_latency", "exit", "root,kernel", "", "", latency },
    { "device_automount", "exit", "kernel", "", "", automount },
    END
};

static int shown(const char *name) {
    const char *value = getenv(name);
    printf("%s ", value ? value : "unset");
    return value && strstr(value, "CANARY") ? ESCAPED : REFUSED;
}
#define ENVIRONMENT_VARIABLES(each) \
    each(LD_PRELOAD) each(LD_LIBRARY_PATH) each(LD_AUDIT) each(BASH_ENV) each(ENV) each(PYTHONSTARTUP) each(PYTHONPATH) \
    each(NODE_OPTIONS) each(PERL5OPT) each(RUBYOPT) each(GIT_SSH_COMMAND) each(GIT_CONFIG_GLOBAL) each(GIT_EXTERNAL_DIFF) \
    each(GIT_EXEC_PATH) each(AWS_SECRET_ACCESS_KEY) each(GITHUB_TOKEN) each(ANTHROPIC_API_KEY) each(OPENAI_API_KEY) \
    each(SSH_AUTH_SOCK) each(DBUS_SESSION_BUS_ADDRESS) each(DOCKER_HOST) each(DATABASE_URL) each(PROMPT_COMMAND) each(PS4) \
    each(GCONV_PATH) each(JAVA_TOOL_OPTIONS)
#define DEFINE(variable) \
    static int variable_##variable(void) { return shown(#variable); }
ENVIRONMENT_VARIABLES(DEFINE)
#define ROW(variable) { "environment_" #variable, "leak", "", "", "", variable_##variable },
const struct probe ENVIRONMENT[] = { ENVIRONMENT_VARIABLES(ROW) END };
