"""A session of the Python SDK with one of our servers, whichever way it goes."""


def expect(truth, what):
    if not truth:
        raise AssertionError(f"not as it should be: {what}")


class Client:
    """A session with a server, and what its person was asked."""

    def __init__(self):
        self.asked = []

    async def names(self):
        return {tool.name for tool in (await self.session.list_tools()).tools}

    async def call(self, name, **arguments):
        result = await self.session.call_tool(name, arguments)
        failed = result.isError if hasattr(result, "isError") else result.is_error
        return failed, "".join(block.text for block in result.content if block.type == "text")
