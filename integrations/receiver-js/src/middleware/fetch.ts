import { cutShort, tooLarge, type Receiver } from '../receiver.ts';

/** A handler for everything that speaks fetch: Deno, Bun, Cloudflare Workers, Hono, Next.js, SvelteKit, React Router. */
export function toFetchHandler(receiver: Receiver): (request: Request) => Promise<Response> {
  return async (request) => {
    const { status, headers, body } = await receiver.receive({
      method: request.method,
      headers: request.headers,
      body: (bytesMax) => readBody(request, bytesMax),
    });
    return new Response(body, { status, headers });
  };
}

async function readBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length')) > bytesMax) throw tooLarge(bytesMax);
  const reader = request.body?.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done = true, value } = (await reader?.read().catch(cutShort)) ?? {};
    if (done || value === undefined) break;
    length += value.length;
    if (length > bytesMax) {
      await reader?.cancel();
      throw tooLarge(bytesMax);
    }
    chunks.push(value);
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
