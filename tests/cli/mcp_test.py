# SPDX-License-Identifier: Apache-2.0
"""tune mcp, driven by a scripted client: only messages on stdout, and nothing that a client sends ends the server."""

import json
import queue
import signal
import subprocess
import threading
import time
import unittest

from program import PATIENCE, SCALE_SOURCES, TUNE, ProgramTest

CRASHES = SCALE_SOURCES["scale.cu"].replace("2 * x[i]", "*(volatile float*)8")
HANGS = SCALE_SOURCES["scale.cu"].replace(
    "if (i < N)", "const volatile float* p = x;\n  while (p[0] == p[0]) {}\n  if (i < N)")
STATELESS = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
             "io.modelcontextprotocol/clientCapabilities": {}}


class Client:
    """Writes messages to a server and reads its answers, each of which must be a line of JSON."""

    def __init__(self, test):
        self.test = test
        self.process = subprocess.Popen([TUNE, "mcp"], cwd=test.directory, env=test.environment(), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines = queue.Queue()
        self.number = 0
        for stream, to in ((self.process.stdout, self.lines), (self.process.stderr, queue.Queue())):
            threading.Thread(target=lambda stream=stream, to=to: [to.put(line) for line in stream], daemon=True).start()
        test.addCleanup(self.end)

    def end(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def send(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def answer(self, timeout=PATIENCE):
        message = json.loads(self.lines.get(timeout=timeout))
        self.test.assertEqual(message["jsonrpc"], "2.0")
        return message

    def begin(self, method, params=None):
        """Sends a request and returns its id."""
        self.number += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}}))
        return self.number

    def ask(self, method, params=None, timeout=PATIENCE):
        number = self.begin(method, params)
        message = self.answer(timeout)
        self.test.assertEqual(message["id"], number)
        return message

    def result(self, method, params=None, timeout=PATIENCE):
        message = self.ask(method, params, timeout)
        self.test.assertIn("result", message)
        return message["result"]

    def call(self, tool, **arguments):
        return self.result("tools/call", {"name": tool, "arguments": arguments})

    def error(self, method, params=None):
        return self.ask(method, params)["error"]["code"]


class McpTest(ProgramTest):
    def client(self):
        client = Client(self)
        client.result("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                     "clientInfo": {"name": "test", "version": "1"}})
        client.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        return client

    def judge(self, client, source=SCALE_SOURCES["scale.cu"], **arguments):
        space = self.space_file(None, {"scale.cu": source})
        return client.call("judge", space=str(space), backend="cpu", **arguments)

    def test_a_session_begins_with_a_revision_that_both_know(self):
        client = Client(self)
        for wanted, given in (("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")):
            result = client.result("initialize", {"protocolVersion": wanted, "capabilities": {},
                                                  "clientInfo": {"name": "test", "version": "1"}})
            self.assertEqual(result["protocolVersion"], given)
            self.assertEqual(sorted(result["capabilities"]), ["resources", "tools"])
            self.assertEqual(result["serverInfo"]["name"], "tune")
        self.assertEqual(client.error("initialize", {}), -32602)

    def test_a_request_without_a_session_states_its_revision(self):
        client = Client(self)
        result = client.result("server/discover", {"_meta": STATELESS})
        self.assertIn("2026-07-28", result["supportedVersions"])
        for method in ("tools/list", "resources/list"):
            listed = client.result(method, {"_meta": STATELESS})
            self.assertEqual((listed["resultType"], listed["cacheScope"]), ("complete", "private"))
        done = client.result("tools/call", {"name": "query", "arguments": {"kernel": "k", "size": "1"},
                                            "_meta": STATELESS})
        self.assertEqual((done["resultType"], done["isError"]), ("complete", True))
        answer = client.ask("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2030-01-01"}})
        self.assertEqual(answer["error"]["code"], -32022)
        self.assertEqual(answer["error"]["data"], {"supported": ["2026-07-28"], "requested": "2030-01-01"})

    def test_tools_have_schemas(self):
        tools = {tool["name"]: tool for tool in self.client().result("tools/list")["tools"]}
        self.assertEqual(sorted(tools), ["explain", "judge", "query", "tune"])
        for tool in tools.values():
            schema = tool["inputSchema"]
            self.assertEqual(schema["type"], "object")
            self.assertLessEqual(set(schema["required"]), set(schema["properties"]))
        self.assertEqual(tools["judge"]["inputSchema"]["required"], ["space"])

    def test_a_kernel_is_judged_tuned_queried_and_explained(self):
        client = self.client()
        done = self.judge(client, config="BLOCK=64")
        self.assertFalse(done["isError"])
        verdict = done["structuredContent"]
        self.assertEqual((verdict["format"], verdict["verdict"]), ("judge/1", "ok"))
        self.assertEqual(json.loads(done["content"][0]["text"]), verdict)
        space = str(self.directory / "scale.json")
        self.assertFalse(client.call("tune", space=space, kernel="scale", backend="cpu", size="64")["isError"])
        best = client.call("query", kernel="scale", size="64")["structuredContent"]
        self.assertIn(best["config"]["BLOCK"], (32, 64))
        explained = client.call("explain", kernel="scale", size="64", backend="cpu")["structuredContent"]
        self.assertEqual(explained["schema"], "tune.explain/1")

    def test_a_refused_kernel_is_a_result(self):
        done = self.judge(self.client(), SCALE_SOURCES["scale.cu"].replace("2 * x[i]", "3 * x[i]"))
        self.assertFalse(done["isError"])
        self.assertEqual(done["structuredContent"]["outcome"], "wrong_result")

    def test_a_kernel_that_crashes_or_hangs_leaves_the_server_alive(self):
        client = self.client()
        self.assertEqual(self.judge(client, CRASHES)["structuredContent"]["outcome"], "crashed")
        self.assertEqual(self.judge(client, HANGS, max_time="2s")["structuredContent"]["verdict"], "timeout")
        self.assertEqual(self.judge(client)["structuredContent"]["verdict"], "ok")

    def test_arguments_that_are_wrong_have_a_clear_message(self):
        client = self.client()
        for arguments, says in (({}, "needs the argument space"),
                                ({"space": 3}, "argument space of tool judge is a text"),
                                ({"space": "missing.json"}, "missing.json"),
                                ({"space": "--help"}, "--help"),
                                ({"spaec": "x"}, "did you mean 'space'"),
                                ({"space": "x", "seed": -1}, "a whole number"),
                                ({"space": "x", "store": "yes"}, "true or false"),
                                ({"space": "a\0b"}, "NUL")):
            done = client.call("judge", **arguments)
            self.assertTrue(done["isError"], arguments)
            self.assertIn(says, done["content"][0]["text"])
        self.assertIn("no database", client.call("query", kernel="k", size="1")["content"][0]["text"])

    def test_what_is_no_request_has_an_error_and_the_server_goes_on(self):
        client = self.client()
        for text, code in (("{", -32700), ("\xff", -32700), ("[" * 100_000, -32700), ("[]", -32600), ("3", -32600),
                           ('{"id": 1, "method": "ping"}', -32600), ('{"jsonrpc": "2.0", "id": 1}', -32600),
                           ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
                           ('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": 3}', -32602)):
            client.send(text)
            self.assertEqual(client.answer()["error"]["code"], code, text[:60])
        self.assertEqual(client.error("tools/cal"), -32601)
        self.assertEqual(client.error("tools/call", {"name": "rm"}), -32602)
        self.assertEqual(client.error("tools/call", {"name": "judge", "arguments": []}), -32602)
        client.send("\n  \r")
        client.send('{"jsonrpc": "2.0", "method": "notifications/of-another-kind"}')
        client.send('{"jsonrpc": "2.0", "id": 7, "result": {}}')
        self.assertEqual(client.result("ping"), {})

    def test_a_message_that_is_too_long(self):
        client = self.client()
        client.send('"' + "x" * (17 << 20) + '"')
        self.assertEqual(client.answer()["error"]["code"], -32600)
        self.assertEqual(client.result("ping"), {})

    def test_resources(self):
        client = self.client()
        listed = {each["uri"]: each for each in client.result("resources/list")["resources"]}
        for name in ("space", "suite", "judge"):
            uri = f"tuner://schema/{name}-1.schema.json"
            [content] = client.result("resources/read", {"uri": uri})["contents"]
            self.assertEqual(content["uri"], uri)
            self.assertIn(f"{name}/1", content["text"])
        page = "tuner://docs/howto/judge-generated-kernels.md"
        self.assertEqual(listed[page]["mimeType"], "text/markdown")
        self.assertIn(listed[page]["title"], client.result("resources/read", {"uri": page})["contents"][0]["text"])
        for uri in ("tuner://docs/../README.md", "file:///etc/passwd", ""):
            self.assertEqual(client.error("resources/read", {"uri": uri}), -32002)
        self.assertEqual(client.error("resources/read", {"uri": 3}), -32602)

    def test_requests_are_answered_while_a_tool_runs_and_a_call_is_cancelled(self):
        client = self.client()
        space = str(self.space_file(None, {"scale.cu": HANGS}))
        call = client.begin("tools/call", {"name": "judge", "arguments": {"space": space, "backend": "cpu"}})
        begin = time.monotonic()
        self.assertEqual(client.result("ping"), {})
        client.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}))
        done = self.judge(client)
        self.assertEqual(done["structuredContent"]["verdict"], "ok", "the only answer to a call")
        self.assertLess(time.monotonic() - begin, 50, "the call that was cancelled did not run to its end")

    def test_what_was_asked_before_the_end_of_the_input_is_answered(self):
        client = self.client()
        call = client.begin("tools/call", {"name": "judge", "arguments": {"space": str(self.space_file()),
                                                                          "backend": "cpu"}})
        client.process.stdin.close()
        self.assertEqual(client.answer()["id"], call)
        self.assertEqual(client.process.wait(timeout=PATIENCE), 0)

    def test_a_signal_ends_it_with_what_runs(self):
        client = self.client()
        client.begin("tools/call", {"name": "judge", "arguments": {
            "space": str(self.space_file(None, {"scale.cu": HANGS})), "backend": "cpu"}})
        client.result("ping")
        client.process.send_signal(signal.SIGTERM)
        self.assertEqual(client.process.wait(timeout=PATIENCE), 143)


if __name__ == "__main__":
    unittest.main()
