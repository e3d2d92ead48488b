import { isHostAmong } from './host-patterns.ts';

/** One mailbox. Both parts consist of plain ASCII signs that need no quotes. */
export interface MailAddress {
  readonly address: string;
  /** The host behind the `@`. */
  readonly host: string;
}

/** The operator's rules for mailboxes. */
export interface MailRules {
  /** Hosts, as `isHostAmong` takes them, to which mail may go; null means any. */
  readonly allowDomains: readonly string[] | null;
}

/** A mailbox, or what is wrong with the URL, for the subscriber. */
export type MailUrlCheck =
  { readonly ok: true; readonly mailbox: MailAddress } | { readonly ok: false; readonly problem: string };

const scheme = /^mailto:/i;
// A dot-atom (RFC 5322 §3.2.3) without the signs that a mailto URL gives a meaning (RFC 6068 §2).
const local = /^[\w!#$'*+=^`{|}~-]+(?:\.[\w!#$'*+=^`{|}~-]+)*$/;
const host = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;
// Maximum characters of the part before the `@` and of an address (RFC 5321 §4.5.3.1).
const localLengthMax = 64;
const addressLengthMax = 254;

/** Whether the URL of a subscription names a mailbox; pure. */
export function isMailUrl(url: string): boolean {
  return scheme.test(url);
}

/** Reads one plain address such as `claims@agency.example`; null for every other text; pure. */
export function parseMailAddress(text: string): MailAddress | null {
  const at = text.lastIndexOf('@');
  const [before, behind] = [text.slice(0, at), text.slice(at + 1)];
  const fits = text.length <= addressLengthMax && before.length <= localLengthMax;
  return at > 0 && fits && local.test(before) && host.test(behind) ? { address: text, host: behind } : null;
}

/** The host of a mailto URL, or empty if it names no address; pure. */
export function mailHostOf(url: string): string {
  return parseMailAddress(url.replace(scheme, ''))?.host ?? '';
}

/** Checks a mailto URL against the operator's rules, which are null if there is no mail server. Pure. */
export function checkMailUrl(url: string, rules: MailRules | null): MailUrlCheck {
  if (rules === null)
    return { ok: false, problem: 'e-mail is not set up; the operator sets SMTP_URL and SMTP_FROM' };
  const mailbox = parseMailAddress(url.replace(scheme, ''));
  if (mailbox === null) {
    const problem =
      'it must be mailto: with one plain address, such as mailto:claims@agency.example, without a name, a subject or a second address';
    return { ok: false, problem };
  }
  const { allowDomains } = rules;
  if (allowDomains === null || isHostAmong(allowDomains, mailbox.host)) return { ok: true, mailbox };
  const problem = `mail may go to these hosts only: ${allowDomains.join(', ')}; the operator adds others to SMTP_ALLOW_DOMAINS`;
  return { ok: false, problem };
}
