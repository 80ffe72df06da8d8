# SPDX-License-Identifier: Apache-2.0
"""A launcher that spoils what its agent says: strange_agent.py HOW TUNE worker node."""

import struct
import subprocess
import sys
import threading

HOW, AGENT = sys.argv[1], sys.argv[2:]


def frame(payload):
    return b"tune" + struct.pack("<I", len(payload)) + payload


def frames(stream):
    while header := stream.read(8):
        yield stream.read(struct.unpack("<I", header[4:])[0])


def forward(source, sink):
    try:
        while data := source.read1(65536):
            sink.write(data)
            sink.flush()
        sink.close()
    except (OSError, ValueError):
        pass


child = subprocess.Popen(AGENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
threading.Thread(target=forward, args=(sys.stdin.buffer, child.stdin), daemon=True).start()
out = sys.stdout.buffer
ANSWER = {"garbage": b"Segmentation fault\n",
          "truncated": frame(b"\xa1\x61")[:9],
          "short": frame(b"\xa1\x61"),
          "oversized": b"tune\xff\xff\xff\xff",
          "unasked": frame(b"\xa2\x64lane\x18\x63\x66result\xf6"),
          "lane": frame(b"\xa2\x64lane\x61x\x66result\xf6"),
          "nothing": frame(b"\xa0"),
          "error": frame(b"\xa2\x64lane\x00\x65error\xa2\x64code\x18\x63\x67message\x64ouch"),
          "result": frame(b"\xa2\x64lane\x00\x66result\xa1\x67outcome\x65great")}
for number, payload in enumerate(frames(child.stdout)):
    if HOW == "version" and number == 0:
        payload = payload.replace(b"version\x65", b"version\x65", 1)
        at = payload.index(b"version") + 8
        payload = payload[:at] + b"9" + payload[at + 1:]
    device_answer = number > 1 and b"outcome" in payload
    if HOW in ANSWER and device_answer:
        out.write(ANSWER[HOW])
        out.flush()
        if HOW == "truncated":
            break
        continue
    out.write(frame(payload))
    out.flush()
child.stdin.close()
child.terminate()
