import { parseMailAddress, type MailAddress } from './mail-address.ts';

/** The mail server of the operator, as `SMTP_URL` names it. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /**
   * `always` from the first byte, `upgraded` by STARTTLS before anything else is sent, by STARTTLS if it is
   * `offered`, or not at all.
   */
  readonly tls: 'always' | 'upgraded' | 'offered' | 'none';
  /** Null if the server needs none. */
  readonly auth: { readonly user: string; readonly pass: string } | null;
}

/** The sender of all mail, as `SMTP_FROM` names it. */
export interface MailSender extends MailAddress {
  /** Empty without one. */
  readonly name: string;
}

// A server on the same machine: nothing can be read or changed on the way to it.
const sameMachine = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

const expected =
  'must be smtps:// or smtp:// with a host and, where it has them, user:password@ before and a port behind it';

/**
 * Reads `smtps://user:password@host:port`, with TLS from the first byte, or the same with `smtp://`, with
 * STARTTLS, which a server on the same machine need not offer; `smtp://…?tls=none` means no TLS. The port is
 * 465 or 587 if none is given. User and password are percent-decoded. A problem completes "NAME …" and never
 * repeats the text.
 */
export function parseSmtpServer(text: string): Parsed<SmtpServer> {
  const url = /^smtps?:\/\//i.test(text) && !/[\s\p{Cc}]/u.test(text) ? URL.parse(text) : null;
  if (url === null || url.hostname === '' || !/^\/?$/.test(url.pathname) || url.hash !== '')
    return { ok: false, problem: expected };
  const isSecure = url.protocol === 'smtps:';
  if (url.search !== '' && (isSecure || url.search !== '?tls=none'))
    return { ok: false, problem: 'may end in ?tls=none with smtp://, and in nothing else behind a ?' };
  if (url.port === '0') return { ok: false, problem: 'must not name port 0' };
  const auth = credentialsOf(url);
  if (auth === 'wrong')
    return { ok: false, problem: 'needs both user and password, or neither, each percent-encoded' };
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(url.port) || (isSecure ? 465 : 587);
  const tls = isSecure ? 'always' : url.search === '' ? startTlsOf(host) : 'none';
  return { ok: true, value: { host, port, tls, auth } };
}

function startTlsOf(host: string): SmtpServer['tls'] {
  return sameMachine.test(host) ? 'offered' : 'upgraded';
}

/** Reads `alerts@agency.example` or `Filing alerts <alerts@agency.example>`. */
export function parseMailSender(text: string): Parsed<MailSender> {
  const [, name = '', bracketed] = /^([^<>"\p{Cc}]*)<([^<>]*)>$/u.exec(text) ?? [];
  const mailbox = parseMailAddress(bracketed ?? text);
  return mailbox === null
    ? { ok: false, problem: 'must be one address, with or without a name before it' }
    : { ok: true, value: { ...mailbox, name: name.trim() } };
}

/** The server as logs may show it: credentials are masked. */
export function maskedServer({ host, port, tls, auth }: SmtpServer): string {
  const named = host.includes(':') ? `[${host}]` : host;
  return `${tls === 'always' ? 'smtps' : 'smtp'}://${auth === null ? '' : '***@'}${named}:${port}`;
}

function credentialsOf({ username, password }: URL): SmtpServer['auth'] | 'wrong' {
  if (username === '' && password === '') return null;
  try {
    const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
    return user === '' || pass === '' ? 'wrong' : { user, pass };
  } catch {
    return 'wrong';
  }
}
