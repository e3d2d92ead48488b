// What Zapier does around the app, as its documents say: it runs a method with a bundle, and its address for callbacks hands requests on.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import zapier from 'zapier-platform-core';
import app from '../src/index.ts';

/** Runs a method of the app as Zapier's runtime does, with the checks that it makes of results in development. */
export const runMethod = zapier.createAppTester(app);

/** A request as `bundle.rawRequest` shows it to a trigger. */
export interface HandedOn {
  method: 'POST';
  querystring: string;
  headers: Record<string, string>;
  content: string;
}

/** Plays hooks.zapier.com: keeps what arrives in Zapier's form. */
export interface Hooks extends AsyncDisposable {
  /** A new address, as each Zap has one. */
  newTarget(): string;
  /** What came to this address so far. */
  at(target: string): readonly HandedOn[];
  /** Answers calls of this address with this status from now on (200 at first); 410 is a Zap that is off. */
  answer(target: string, status: number): void;
}

/** Starts it on loopback. */
export async function startHooks(): Promise<Hooks> {
  const arrived = new Map<string, HandedOn[]>();
  const statuses = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const content = Buffer.concat(chunks).toString('utf8');
      const headers = handOn(request.headers);
      arrived.set(path, [
        ...(arrived.get(path) ?? []),
        { method: 'POST', querystring: '', headers, content },
      ]);
      response.writeHead(statuses.get(path) ?? 200, { 'content-type': 'application/json' });
      response.end('{"status":"success"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pathOf = (target: string) => new URL(target).pathname;
  let zaps = 0;
  return {
    newTarget: () => `${origin}/hooks/standard/1234567/${(zaps += 1)}/`,
    at: (target) => arrived.get(pathOf(target)) ?? [],
    answer: (target, status) => void statuses.set(pathOf(target), status),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Names in Camel-Case, all but two with the prefix `Http-`. */
function handOn(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const camel = name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
      const bare = camel === 'Content-Type' || camel === 'Content-Length';
      return [bare ? camel : `Http-${camel}`, String(value)];
    }),
  );
}
