/* Reaching servers outside. What is sent is the name of the probe, and the server tells the harness that it came. */
#include "probe.h"
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static struct sockaddr_in four(const char *port) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)setting_number(port)) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}
static struct sockaddr_in6 six(const char *port) {
    struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)setting_number(port)) };
    address.sin6_addr = in6addr_loopback;
    return address;
}
static int said(int fd) {
    char line[128];
    snprintf(line, sizeof line, "%s\n", probe_name);
    return tried(send(fd, line, strlen(line), MSG_NOSIGNAL));
}
static int talks(int domain, int type, int protocol, const void *address, socklen_t size) {
    int fd = socket(domain, type | SOCK_CLOEXEC, protocol);
    if (fd < 0 || connect(fd, address, size) < 0) return tried(-1);
    return said(fd);
}
static int tcp4(void) { struct sockaddr_in to = four("T4"); return talks(AF_INET, SOCK_STREAM, 0, &to, sizeof to); }
static int tcp6(void) { struct sockaddr_in6 to = six("T6"); return talks(AF_INET6, SOCK_STREAM, 0, &to, sizeof to); }
static int udp4(void) { struct sockaddr_in to = four("U4"); return talks(AF_INET, SOCK_DGRAM, 0, &to, sizeof to); }
static int udp6(void) { struct sockaddr_in6 to = six("U6"); return talks(AF_INET6, SOCK_DGRAM, 0, &to, sizeof to); }
static int tcp_mapped(void) {
    struct sockaddr_in6 to = six("T4");
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &to.sin6_addr);
    return talks(AF_INET6, SOCK_STREAM, 0, &to, sizeof to);
}
static int tcp_any(void) {
    struct sockaddr_in to = four("T4");
    to.sin_addr.s_addr = 0;
    return talks(AF_INET, SOCK_STREAM, 0, &to, sizeof to);
}
static int tcp_other_loopback(void) {
    struct sockaddr_in to = four("T4_ANY");
    inet_pton(AF_INET, "127.9.9.9", &to.sin_addr);
    return talks(AF_INET, SOCK_STREAM, 0, &to, sizeof to);
}
static int multipath(void) { struct sockaddr_in to = four("T4"); return talks(AF_INET, SOCK_STREAM, IPPROTO_MPTCP, &to, sizeof to); }
static int multipath6(void) { struct sockaddr_in6 to = six("T6"); return talks(AF_INET6, SOCK_STREAM, IPPROTO_MPTCP, &to, sizeof to); }
static int stream_control(void) { struct sockaddr_in to = four("T4"); return talks(AF_INET, SOCK_STREAM, IPPROTO_SCTP, &to, sizeof to); }
static int fast_open(void) {
    struct sockaddr_in to = four("T4");
    char line[128];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(line, sizeof line, "%s\n", probe_name);
    if (fd < 0) return tried(-1);
    return tried(sendto(fd, line, strlen(line), MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof to));
}
static int fast_open_connect(void) {
    struct sockaddr_in to = four("T4");
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0) return tried(-1);
    setsockopt(fd, IPPROTO_TCP, 30 /* TCP_FASTOPEN_CONNECT */, &on, sizeof on);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0) return tried(-1);
    return said(fd);
}
static int udp_sendto(void) {
    struct sockaddr_in to = four("U4");
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return tried(-1);
    return tried(sendto(fd, probe_name, strlen(probe_name), 0, (struct sockaddr *)&to, sizeof to));
}
static int udp_sendmmsg(void) {
    struct sockaddr_in to = four("U4");
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct iovec bytes = { (void *)probe_name, strlen(probe_name) };
    struct mmsghdr message = { .msg_hdr = { .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &bytes, .msg_iovlen = 1 } };
    return fd < 0 ? tried(-1) : tried(sendmmsg(fd, &message, 1, 0));
}
static int question(void) {
    /* A question for names, as a resolver would send it, to a resolver outside. */
    unsigned char packet[256] = { 0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0 };
    size_t length = strlen(probe_name);
    packet[12] = (unsigned char)length;
    memcpy(packet + 13, probe_name, length);
    memcpy(packet + 13 + length, "\0\0\1\0\1", 5);
    struct sockaddr_in to = four("U4");
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return fd < 0 ? tried(-1) : tried(sendto(fd, packet, 18 + length, 0, (struct sockaddr *)&to, sizeof to));
}
static int raw_icmp(void) {
    unsigned char packet[8] = { 8, 0, 0xf7, 0xff, 0, 0, 0, 0 };
    struct sockaddr_in to = four("U4");
    int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
    return fd < 0 ? tried(-1) : tried(sendto(fd, packet, 8, 0, (struct sockaddr *)&to, sizeof to));
}
static int ping_socket(void) {
    unsigned char packet[8] = { 8, 0, 0xf7, 0xff, 0, 0, 0, 0 };
    struct sockaddr_in to = four("U4");
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);
    return fd < 0 ? tried(-1) : tried(sendto(fd, packet, 8, 0, (struct sockaddr *)&to, sizeof to));
}
static int made(int domain, int type, int protocol) { return tried(socket(domain, type | SOCK_CLOEXEC, protocol)); }
static int packets(void) { return made(AF_PACKET, SOCK_RAW, htons(3)); }
static int packets_cooked(void) { return made(AF_PACKET, SOCK_DGRAM, htons(3)); }
static int machine_socket(void) { return made(AF_VSOCK, SOCK_STREAM, 0); }
static int crypto_socket(void) { return made(AF_ALG, SOCK_SEQPACKET, 0); }
static int key_socket(void) { return made(15 /* AF_KEY */, SOCK_RAW, 2); }
static int bluetooth(void) { return made(31, SOCK_RAW, 1); }
static int can_bus(void) { return made(29, SOCK_RAW, 1); }
static int express_data(void) { return made(44 /* AF_XDP */, SOCK_RAW, 0); }
static int netlink_audit(void) { return made(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT); }
static int netlink_events(void) { return made(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT); }
static int netlink_filter(void) { return made(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER); }
static int netlink_transform(void) { return made(AF_NETLINK, SOCK_RAW, NETLINK_XFRM); }
static int netlink_connector(void) { return made(AF_NETLINK, SOCK_RAW, NETLINK_CONNECTOR); }
static int netlink_generic(void) { return made(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC); }
static int netlink_diagnosis(void) { return made(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG); }
static int interfaces(void) {
    /* Which networks the machine is on: anything but loopback is too much. */
    struct if_nameindex *list = if_nameindex();
    int found = REFUSED;
    if (!list) return tried(-1);
    for (struct if_nameindex *one = list; one->if_index; one++) {
        if (strcmp(one->if_name, "lo") != 0) {
            printf("%s ", one->if_name);
            found = ESCAPED;
        }
    }
    if_freenameindex(list);
    return found;
}
static int configure_interface(void) {
    struct ifreq request = { 0 };
    strcpy(request.ifr_name, "lo");
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0) return tried(-1);
    return tried(ioctl(fd, SIOCSIFFLAGS, &request)); /* what they are */
}
static int known_sockets(void) {
    char port[16];
    snprintf(port, sizeof port, ":%04lX", setting_number("T4"));
    FILE *file = fopen("/proc/net/tcp", "r");
    char line[512];
    int found = REFUSED;
    if (!file) return tried(-1);
    while (fgets(line, sizeof line, file)) {
        if (strstr(line, port)) found = ESCAPED;
    }
    fclose(file);
    return found;
}

static int unix_talk(int type, const char *path, size_t size) {
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    if (size > sizeof to.sun_path) return UNTRIED;
    memcpy(to.sun_path, path, size);
    return talks(AF_UNIX, type, 0, &to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
}
static int unix_path(int type, const char *path) { return unix_talk(type, path, strlen(path) + 1); }
static int unix_in(int type, const char *directory, const char *name) {
    if (chdir(directory) < 0) return tried(-1);
    return unix_path(type, name);
}
static int docker(void) { return unix_path(SOCK_STREAM, setting("DOCKER_SOCK")); }
static int agent(void) { return unix_path(SOCK_STREAM, setting("AGENT_SOCK")); }
static int bus(void) { return unix_path(SOCK_DGRAM, setting("BUS_SOCK")); }
static int run_socket(void) { return *setting("RUN_SOCK") ? unix_path(SOCK_STREAM, setting("RUN_SOCK")) : UNTRIED; }
static int tmp_socket(void) { return unix_path(SOCK_STREAM, setting("TMP_SOCK")); }
static int socket_by_directory(void) { return unix_in(SOCK_STREAM, setting("SOCKS"), "docker.sock"); }
static int socket_by_link(void) {
    if (symlink(setting("DOCKER_SOCK"), workspace("docker-link")) < 0) return UNTRIED;
    return unix_in(SOCK_STREAM, setting("WS"), "docker-link");
}
static int socket_by_dot_dot(void) { return unix_in(SOCK_STREAM, setting("WS"), "../sockets/docker.sock"); }
static int socket_by_proc_root(void) {
    int fd = open(setting("SOCKS"), O_PATH | O_CLOEXEC);
    char path[64];
    if (fd < 0) return tried(-1);
    snprintf(path, sizeof path, "/proc/self/fd/%d/docker.sock", fd);
    return unix_path(SOCK_STREAM, path);
}
static int socket_by_hard_link(void) {
    if (link(setting("DOCKER_SOCK"), workspace("docker-hard")) < 0) return tried(-1);
    return unix_in(SOCK_STREAM, setting("WS"), "docker-hard");
}
static int socket_by_rename(void) {
    if (rename(setting("SPARE_SOCK"), workspace("spare")) < 0) return tried(-1);
    return unix_in(SOCK_STREAM, setting("WS"), "spare");
}
static int abstract_stream(void) {
    char name[108] = "";
    snprintf(name + 1, 100, "%s", setting("ABSTRACT"));
    return unix_talk(SOCK_STREAM, name, 1 + strlen(name + 1));
}
static int abstract_datagram(void) {
    char name[108] = "";
    snprintf(name + 1, 100, "%s-d", setting("ABSTRACT"));
    return unix_talk(SOCK_DGRAM, name, 1 + strlen(name + 1));
}
static int by_python(void) {
    return command_exists("python3") ? python("import socket,os\nfor l in open('setting.conf'):\n  if l.startswith('T4='): p=int(l[3:])\ns=socket.create_connection(('127.0.0.1',p),3); s.sendall(b'by_python\\n'); s.close()") : UNTRIED;
}
static int by_bash(void) {
    return access("/bin/bash", X_OK) == 0 ? shell("exec /bin/bash -c '. <(grep ^T4= \"$WS/setting.conf\"); exec 3<>/dev/tcp/127.0.0.1/$T4 && echo by_bash >&3'") : UNTRIED;
}
static int by_curl(void) {
    return command_exists("curl") ? shell(". \"$WS/ports.sh\"; curl -s --noproxy '*' -m 3 http://127.0.0.1:$T4/by_curl; test $? -eq 52 -o $? -eq 0") : UNTRIED;
}
static int by_localhost_name(void) {
    return command_exists("curl") ? shell(". \"$WS/ports.sh\"; curl -s --noproxy '*' -m 3 http://localhost:$T4/by_localhost_name; test $? -eq 52 -o $? -eq 0") : UNTRIED;
}

const struct probe NETWORK[] = {
    { "tcp4", "server", "", "", "CVE-2025-66479", tcp4 },
    { "tcp6", "server", "", "", "CVE-2025-66479", tcp6 },
    { "udp4", "server", "", "", "", udp4 },
    { "udp6", "server", "", "", "", udp6 },
    { "tcp_mapped", "server", "", "", "", tcp_mapped },
    { "tcp_any", "server", "", "", "", tcp_any },
    { "tcp_other_loopback", "server", "", "", "", tcp_other_loopback },
    { "tcp_multipath", "server", "kernel", "", "", multipath },
    { "tcp_multipath6", "server", "kernel", "", "", multipath6 },
    { "tcp_stream_control", "server", "kernel", "", "", stream_control },
    { "tcp_fast_open", "server", "kernel", "", "", fast_open },
    { "tcp_fast_open_connect", "server", "kernel", "", "", fast_open_connect },
    { "udp_sendto", "server", "", "", "", udp_sendto },
    { "udp_sendmmsg", "server", "", "", "", udp_sendmmsg },
    { "name_question", "server", "", "", "", question },
    { "raw_icmp", "exit", "root", "", "", raw_icmp },
    { "ping_socket", "exit", "kernel", "", "", ping_socket },
    { "packet_socket", "exit", "root", "", "", packets },
    { "packet_socket_cooked", "exit", "root", "", "", packets_cooked },
    { "machine_socket", "exit", "kernel", "", "", machine_socket },
    { "crypto_socket", "exit", "kernel", "", "", crypto_socket },
    { "key_socket", "exit", "root,kernel", "", "", key_socket },
    { "bluetooth_socket", "exit", "root,kernel", "", "", bluetooth },
    { "can_socket", "exit", "root,kernel", "", "", can_bus },
    { "express_data_socket", "exit", "root,kernel", "", "", express_data },
    { "netlink_audit", "exit", "kernel", "", "", netlink_audit },
    { "netlink_events", "exit", "", "", "", netlink_events },
    { "netlink_filter", "exit", "kernel", "", "", netlink_filter },
    { "netlink_transform", "exit", "kernel", "", "", netlink_transform },
    { "netlink_connector", "exit", "kernel", "", "", netlink_connector },
    { "netlink_generic", "exit", "kernel", "", "", netlink_generic },
    { "netlink_diagnosis", "exit", "kernel", "", "", netlink_diagnosis },
    { "interfaces", "exit", "kernel", "", "", interfaces },
    { "configure_interface", "exit", "root", "", "", configure_interface },
    { "known_sockets", "exit", "", "", "", known_sockets },
    { "unix_docker", "server", "", "", "", docker },
    { "unix_agent", "server", "", "", "", agent },
    { "unix_bus", "server", "", "", "", bus },
    { "unix_run", "server", "root", "", "", run_socket },
    { "unix_tmp", "server", "", "", "", tmp_socket },
    { "unix_by_directory", "server", "", "", "", socket_by_directory },
    { "unix_by_link", "server", "", "", "", socket_by_link },
    { "unix_by_dot_dot", "server", "", "", "", socket_by_dot_dot },
    { "unix_by_proc_root", "server", "", "", "", socket_by_proc_root },
    { "unix_by_hard_link", "server", "", "", "", socket_by_hard_link },
    { "unix_by_rename", "server", "", "", "", socket_by_rename },
    { "unix_abstract_stream", "server", "", "", "", abstract_stream },
    { "unix_abstract_datagram", "server", "", "", "", abstract_datagram },
    { "by_python", "server", "tool", "", "", by_python },
    { "by_bash", "server", "tool", "", "", by_bash },
    { "by_curl", "server", "tool", "", "", by_curl },
    { "by_localhost_name", "server", "tool", "", "", by_localhost_name },
    END
};
