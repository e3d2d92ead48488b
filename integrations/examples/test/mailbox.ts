import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A mail server on loopback that keeps what it gets. */
export interface Mailbox extends AsyncDisposable {
  /** For `SMTP_URL`. */
  readonly url: string;
  readonly mails: readonly { readonly id: string; readonly subject: string; readonly text: string }[];
  /** The answer to each mail waits for it. */
  hold: Promise<unknown>;
}

export async function openMailbox(): Promise<Mailbox> {
  const mails: { id: string; subject: string; text: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, callback) {
      // A sender that is killed in the middle of a mail ends the stream with an error; what it sent is no mail.
      take(stream).then(() => callback(), callback);
    },
  });
  server.on('error', () => undefined);

  async function take(stream: AsyncIterable<Buffer>): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const header = (name: string): string =>
      new RegExp(`^${name}: (.*)$`, 'im').exec(text)?.[1]?.trim() ?? '';
    mails.push({ id: header('Message-ID'), subject: header('Subject'), text });
    await box.hold;
  }

  const box = { mails, hold: Promise.resolve() as Promise<unknown> };
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return Object.assign(box, {
    url: `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}
