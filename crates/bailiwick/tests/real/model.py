"""A model on this machine, for hosts that want one: `model.py PORT-FILE`. It asks for the command in `$TRY` as the host's shell tool,
once, and then answers with what came back. It speaks as much of four interfaces as the hosts need."""
import http.server, json, os, signal, sys

TRY = os.environ["TRY"]
# Whoever started it may be gone.
signal.alarm(400)


def messages(request):
    """Anthropic's: an answer is a list of events."""
    last = request["messages"][-1]["content"]
    results = [part for part in last if isinstance(part, dict) and part.get("type") == "tool_result"] if isinstance(last, list) else []
    tools = [tool.get("name") for tool in request.get("tools", [])]
    asks = "Bash" in tools and not results
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": request["model"], "content": [], "stop_reason": None,
               "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    if asks:
        block = {"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps({"command": TRY, "description": "tries"})}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": "CAME BACK: " + json.dumps(results)}
    events = [("message_start", {"message": message}), ("content_block_start", {"index": 0, "content_block": block}),
              ("content_block_delta", {"index": 0, "delta": delta}), ("content_block_stop", {"index": 0}),
              ("message_delta", {"delta": {"stop_reason": "tool_use" if asks else "end_turn", "stop_sequence": None},
                                 "usage": {"output_tokens": 1}}),
              ("message_stop", {})]
    return "".join("event: %s\ndata: %s\n\n" % (name, json.dumps({"type": name, **event})) for name, event in events)


def responses(request):
    """OpenAI's."""
    results = [item for item in request.get("input", []) if item.get("type", "").endswith("call_output")]
    if results:
        text = {"type": "output_text", "text": "CAME BACK: " + json.dumps(results)}
        item = {"type": "message", "role": "assistant", "id": "m1", "content": [text]}
    else:
        item = {"type": "function_call", "id": "f1", "call_id": "call_1", "name": "exec_command", "arguments": json.dumps({"cmd": TRY})}
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None, "total_tokens": 2}
    events = [{"type": "response.created", "response": {"id": "r1"}}, {"type": "response.output_item.done", "item": item},
              {"type": "response.completed", "response": {"id": "r1", "usage": usage}}]
    return "".join("event: %s\ndata: %s\n\n" % (event["type"], json.dumps(event)) for event in events)


def completions(request):
    """OpenAI's older one, which many others speak."""
    results = [message for message in request["messages"] if message.get("role") == "tool"]
    tools = [tool.get("function", {}).get("name") for tool in request.get("tools") or []]
    if "bash" in tools and not results:
        function = {"name": "bash", "arguments": json.dumps({"command": TRY, "description": "tries"})}
        said, reason = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}, "tool_calls"
    else:
        said, reason = {"content": "CAME BACK: " + json.dumps(results)}, "stop"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    piece = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
    events = [{**piece, "choices": [{"index": 0, "delta": {"role": "assistant", **said}, "finish_reason": None}]},
              {**piece, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}]
    return "".join("data: %s\n\n" % json.dumps(event) for event in events) + "data: [DONE]\n\n"


def contents(request):
    """Google's."""
    parts = [part for content in request.get("contents", []) for part in content.get("parts", [])]
    results = [part for part in parts if "functionResponse" in part]
    tools = [function["name"] for tool in request.get("tools", []) for function in tool.get("functionDeclarations", [])]
    if "run_shell_command" in tools and not results:
        part = {"functionCall": {"name": "run_shell_command", "args": {"command": TRY, "description": "tries"}}}
    elif not tools:
        # Which of its models is to answer.
        choice = {"reasoning": "-", "model_choice": "pro", "complexity_reasoning": "-", "complexity_score": 1}
        part = {"text": json.dumps(choice)}
    else:
        part = {"text": "CAME BACK: " + json.dumps(results)}
    answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
              "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
    return json.dumps(answer)


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        for part, answer in (("/messages", messages), ("/responses", responses), ("/chat/completions", completions)):
            if part in self.path and "count_tokens" not in self.path:
                return self.reply(answer(json.loads(body)).encode(), "text/event-stream")
        # Once it asks which of its models is to answer, and does not want a stream.
        if ":streamGenerateContent" in self.path:
            return self.reply(("data: %s\r\n\r\n" % contents(json.loads(body))).encode(), "text/event-stream")
        if ":generateContent" in self.path:
            return self.reply(contents(json.loads(body)).encode(), "application/json")
        self.reply(b'{"input_tokens": 1}', "application/json")

    def do_GET(self):
        self.reply(b"{}", "application/json")

    do_HEAD = do_GET

    def reply(self, body, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
