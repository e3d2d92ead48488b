import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWithLibraries, receiverSecret } from './receiver.ts';

/** A request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  /** `type` of the body; empty where there is none. */
  readonly type: string;
}

/** An answer to a question; `hang` gives none. */
export type OwnerAnswer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'hang';

/** An endpoint that is asked whether it wants callbacks, and gets them. It answers callbacks with 204. */
export interface OwnedEndpoint extends AsyncDisposable {
  readonly origin: string;
  readonly url: string;
  /** Challenges. */
  readonly questions: readonly Arrived[];
  /** All others. */
  readonly callbacks: readonly Arrived[];
  /** Decides on each question; `challenge` is the text in it. */
  answer: (challenge: string, question: Arrived) => OwnerAnswer | Promise<OwnerAnswer>;
}

/** Answers as the owner of an endpoint does who knows challenges. */
export const owner = (challenge: string): OwnerAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ challenge }),
});

/** Starts an endpoint on a free loopback port. It refuses what is not signed, and throws nothing. */
export async function startOwnedEndpoint(answer: OwnedEndpoint['answer'] = owner): Promise<OwnedEndpoint> {
  const questions: Arrived[] = [];
  const callbacks: Arrived[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let raw = '';
      for await (const chunk of request) raw += String(chunk);
      const { method = '', url = '', headers } = request;
      const body = (raw === '' ? {} : JSON.parse(raw)) as { type?: string; data?: { challenge?: string } };
      const arrived = { method, url, headers, raw, type: body.type ?? '' };
      if (raw !== '') verifyWithLibraries(receiverSecret, headers, raw);
      const isQuestion = arrived.type === 'subscription.challenge';
      (isQuestion ? questions : callbacks).push(arrived);
      const given = isQuestion
        ? await endpoint.answer(body.data?.challenge ?? '', arrived)
        : ({ status: 204 } as const);
      if (given === 'hang') return;
      response.writeHead(given.status, given.headers ?? {}).end(given.body);
    })().catch(() => response.writeHead(401).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoint: OwnedEndpoint = {
    origin,
    url: `${origin}/callbacks?key=1`,
    questions,
    callbacks,
    answer,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return endpoint;
}
