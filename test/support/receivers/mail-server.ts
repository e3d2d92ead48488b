import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail server's reply to a recipient or to an e-mail: taken, refused with a code, or nothing for ever. */
export type MailReply = 'take' | 'hang' | { readonly code: number; readonly text: string };

/** An e-mail as it arrived, whatever was replied to it. */
export interface ArrivedMail {
  readonly sender: string;
  readonly recipients: readonly string[];
  readonly raw: string;
  readonly email: Email;
}

/** A mail server on loopback that does as it is told. */
export interface MailServer extends AsyncDisposable {
  readonly port: number;
  /** E-mails in the order of their arrival. */
  readonly arrived: readonly ArrivedMail[];
  /** Those that were taken. */
  readonly taken: readonly ArrivedMail[];
  /** The recipients that were asked for, in order. */
  readonly asked: readonly string[];
  /** Number of open connections. */
  connections(): number;
  /** How recipients are answered; 'take' at first. */
  onRecipient: (address: string) => MailReply;
  /** How e-mails are answered; 'take' at first. */
  onMail: (mail: ArrivedMail) => MailReply;
}

/** Starts a mail server on a free loopback port. Without other options it has neither TLS nor a login. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const arrived: ArrivedMail[] = [];
  const taken: ArrivedMail[] = [];
  const asked: string[] = [];
  const server = new SMTPServer({
    disabledCommands: options.secure === undefined ? ['STARTTLS', 'AUTH'] : [],
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    ...options,
    onRcptTo({ address }, _session, callback) {
      asked.push(address);
      answer(stage.onRecipient(address), callback);
    },
    onData(stream, session, callback) {
      const read = async (): Promise<MailReply> => {
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(chunk as Buffer);
        const raw = Buffer.concat(chunks);
        const { mailFrom, rcptTo } = session.envelope;
        const mail = {
          sender: mailFrom === false ? '' : mailFrom.address,
          recipients: rcptTo.map(({ address }) => address),
          raw: raw.toString(),
          email: await PostalMime.parse(raw),
        };
        arrived.push(mail);
        const reply = stage.onMail(mail);
        if (reply === 'take') taken.push(mail);
        return reply;
      };
      read().then(
        (reply) => answer(reply, callback),
        (error: Error) => answer({ code: 451, text: error.message }, callback),
      );
    },
  });
  // A client that is killed resets its connection.
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const stage: MailServer = {
    port: (server.server.address() as AddressInfo).port,
    arrived,
    taken,
    asked,
    connections: () => server.connections.size,
    onRecipient: () => 'take',
    onMail: () => 'take',
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(resolve)),
  };
  return stage;
}

function answer(reply: MailReply, callback: (error?: Error | null) => void): void {
  if (reply === 'hang') return;
  if (reply === 'take') callback();
  else callback(Object.assign(new Error(reply.text), { responseCode: reply.code }));
}
