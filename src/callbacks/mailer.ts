import { createTransport, type NodemailerError } from 'nodemailer';
import PQueue from 'p-queue';
import { checkMailUrl, type MailRules } from '../egress/mail-address.ts';
import type { MailSender, SmtpServer } from '../egress/smtp-server.ts';
import { cutText } from '../json/cut-text.ts';
import { createCounts } from '../memory/counts.ts';
import type { Email } from './messages/email.ts';
import { classifyOutcome, type CallbackOutcome } from './outcome.ts';
import { failureCodeOf, failureDetails, type CallbackFailure, type CallbackFailureCode } from './result.ts';

/** An e-mail to send, for an account. */
export interface Mail {
  readonly account: string;
  /** The `mailto:` URL of its recipient. */
  readonly url: string;
  /** The event, of which the `Message-ID` is made: the same on every attempt. */
  readonly eventId: string;
  /** The name of the thread that it belongs to; null for none. */
  readonly thread: string | null;
  readonly content: Email;
}

/** The result of one attempt to send an e-mail. */
export interface MailResult {
  readonly outcome: CallbackOutcome;
  /** The code of the deciding reply, or null if there was none. */
  readonly statusCode: number | null;
  /** The first 1 KiB of that reply, or null if there was none. */
  readonly response: string | null;
  readonly durationMs: number;
}

/** Sends e-mail through the mail server of the operator. */
export type Mailer = ReturnType<typeof createMailer>;

/** `timeoutMs` bounds one e-mail from connecting to the server's last reply. */
export interface MailerOptions extends MailRules {
  readonly server: SmtpServer;
  readonly from: MailSender;
  readonly timeoutMs: number;
}

// Maximum number of connections to the mail server; hosted ones refuse more than a few of one sender.
const connectionsMax = 3;
// Maximum characters of a reply that are kept.
const replyMax = 1_024;

/**
 * A mailer over a pool of connections. The server is the operator's, so no rule for addresses applies to it;
 * each recipient is checked by the rules for mailboxes again. Accounts whose e-mails wait alternate.
 */
export function createMailer({ server, from, allowDomains, timeoutMs }: MailerOptions) {
  const { host, port, tls, auth } = server;
  const connectMs = timeoutMs / 2;
  const transport = createTransport({
    pool: true,
    host,
    port,
    secure: tls === 'always',
    requireTLS: tls === 'upgraded',
    ignoreTLS: tls === 'none',
    ...(auth === null ? {} : { auth }),
    maxConnections: connectionsMax,
    // A kept connection that the server has closed is replaced once, as that of an HTTP endpoint.
    maxRequeues: 1,
    dnsTimeout: connectMs,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const sending = new PQueue({ concurrency: connectionsMax });
  const waiting = createCounts();
  const stopping = new AbortController();
  const idIn = (name: string) => `<${name}@${from.host}>`;

  async function attempt({ url, eventId, thread, content }: Mail, boundMs: number): Promise<MailResult> {
    const startedAt = performance.now();
    const result = (
      outcome: CallbackOutcome,
      statusCode: number | null = null,
      reply: string | null = null,
    ) => {
      const response = reply === null ? null : cutText(reply, replyMax).toWellFormed();
      return { outcome, statusCode, response, durationMs: Math.round(performance.now() - startedAt) };
    };
    if (stopping.signal.aborted) return result(aborted);
    const checked = checkMailUrl(url, { allowDomains });
    if (!checked.ok) return result(refusedByRules);
    const references = thread === null ? {} : { inReplyTo: idIn(thread), references: idIn(thread) };
    try {
      const { response } = await transport.sendMail({
        from: { name: from.name, address: from.address },
        to: { name: '', address: checked.mailbox.address },
        messageId: idIn(eventId),
        ...references,
        headers: { 'Auto-Submitted': 'auto-generated' },
        xMailer: false,
        ...content,
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(boundMs)]),
      });
      return result({ kind: 'delivered', code: 'delivered' }, Number(response.slice(0, 3)) || null, response);
    } catch (error) {
      if (stopping.signal.aborted) return result(aborted);
      const failed = error as NodemailerError;
      // The reply to a login may name its user.
      const { responseCode = null, response = null } = failed.code === 'EAUTH' ? {} : failed;
      return result(outcomeOf(failed), responseCode, response);
    }
  }

  return {
    /**
     * Hands one e-mail to the mail server. Every failure is an outcome. `boundMs` bounds the whole of it from
     * the moment at which a connection is free for it; null means the mailer's own.
     */
    send(mail: Mail, boundMs: number | null): Promise<MailResult> {
      waiting.add(mail.account);
      const begin = () => {
        waiting.remove(mail.account);
        return attempt(mail, boundMs ?? timeoutMs);
      };
      return sending.add(begin, { priority: -waiting.of(mail.account) });
    },
    /** Ends all that is under way, and each later one, as `aborted`. */
    abortAll: () => stopping.abort(),
    /** Closes all connections. */
    close(): Promise<void> {
      stopping.abort();
      transport.close({ force: true });
      return Promise.resolve();
    },
  };
}

const aborted = { kind: 'aborted', code: 'aborted', reason: failureDetails.aborted } as const;
const refusedByRules = {
  kind: 'retry',
  code: 'blocked_address',
  sent: false,
  reason: 'The mailbox is none that SMTP_ALLOW_DOMAINS permits; the operator adds its host.',
} as const;

// Commands that are about one e-mail. Replies to others are about the server or the sender.
const mailCommands: ReadonlySet<string | undefined> = new Set(['RCPT TO', 'DATA']);

/**
 * The outcome of an e-mail that was not accepted. A 5xx to its recipient or its content is final. One to the
 * sender, the login or the connection is about the operator's settings: no event is given up for it, and it
 * costs none an attempt.
 */
function outcomeOf(error: NodemailerError): CallbackOutcome {
  const { code, command, permanent = false, responseCode } = error;
  if (code === 'EAUTH')
    return senderError('The mail server refuses the user or password of SMTP_URL; the operator corrects it.');
  if (code === 'ETLS' || responseCode === undefined) return classifyOutcome(failureOf(error));
  if (permanent && command === 'MAIL FROM')
    return senderError('The mail server refuses the sender in SMTP_FROM; the operator corrects it.');
  const reason = `The mail server answered ${responseCode}.`;
  const sent = mailCommands.has(command);
  if (permanent && sent) return { kind: 'refused', code: 'mail_refused', reason };
  return { kind: 'retry', code: 'mail_deferred', sent, reason };
}

function senderError(reason: string): CallbackOutcome {
  return { kind: 'retry', code: 'sender_error', sent: false, reason };
}

// Failures by the codes of nodemailer. It keeps the code of a socket's error as `originalCode`.
const failureCodes: Readonly<Record<string, CallbackFailureCode>> = {
  EABORT: 'timeout',
  EDNS: 'dns_error',
  ETLS: 'tls_error',
  ECONNECTION: 'connection_reset',
  EPROTOCOL: 'malformed_response',
};
// Failures that come before any command about an e-mail.
const unsent: ReadonlySet<CallbackFailureCode> = new Set([
  'dns_error',
  'tls_error',
  'connection_refused',
  'unreachable',
]);

function failureOf({ code = '', originalCode, timeoutType }: NodemailerError): CallbackFailure {
  const ofSocket = Object.assign(new Error(code), { code: originalCode ?? code });
  const failure = failureCodes[code] ?? failureCodeOf(ofSocket);
  const isEarly = timeoutType !== undefined && timeoutType !== 'SOCKET_TIMEOUT';
  const detail = `The mail server (SMTP_URL) did not take the e-mail: ${failureDetails[failure]}`;
  return { kind: 'failure', code: failure, detail, sent: !isEarly && !unsent.has(failure), durationMs: 0 };
}
