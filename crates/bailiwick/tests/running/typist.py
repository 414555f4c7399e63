"""Runs a command on a terminal of its own and types at it: `typist.py SECONDS (AFTER TEXT)… -- COMMAND…`.

Each TEXT is typed once AFTER has been seen in the output since the last one; an empty AFTER types at once. `resize ROWS COLUMNS`
makes the window another size instead. What appeared is printed, and the command's code is the exit code.
"""
import fcntl, os, pty, select, struct, sys, termios, time

limit = float(sys.argv[1])
split = sys.argv.index("--")
pairs = list(zip(sys.argv[2:split:2], sys.argv[3:split:2]))
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[split + 1], sys.argv[split + 1:])
seen = b""
since = 0
end = time.monotonic() + limit
while time.monotonic() < end:
    if pairs and pairs[0][0].encode() in seen[since:]:
        since = len(seen)
        # A person needs a moment to read; what comes at once is thrown away as typed before the question.
        if pairs[0][0]:
            time.sleep(0.6)
        text = pairs.pop(0)[1]
        if text.startswith("resize "):
            rows, columns = map(int, text.split()[1:])
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        else:
            os.write(terminal, text.encode().decode("unicode_escape").encode())
    ready, _, _ = select.select([terminal], [], [], 0.05)
    if ready:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            break
        if not chunk:
            break
        seen += chunk
sys.stdout.buffer.write(seen)
sys.stdout.flush()
late = time.monotonic() + 5
while time.monotonic() < late:
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
    time.sleep(0.02)
os.kill(pid, 9)
sys.exit(99)
