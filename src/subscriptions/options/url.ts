import { isMailUrl, mailHostOf } from '../../egress/mail-address.ts';
import type { FieldError } from '../../json/validation-problems.ts';

/** The verdict on a URL for callbacks; `problem` is the reason of a refusal. */
export type UrlVerdict = { readonly ok: true } | { readonly ok: false; readonly problem: string };

/** The mark in place of a URL's path and query, in which receivers keep credentials. */
export const hiddenPath = '/…';

// A mailbox with the mark in place of the person.
const hiddenMailbox = 'mailto:…@';

/** The host of a callback URL, and the URL without what only its owner knows; pure. */
export function placeOf(url: string): { name: string; origin: string } {
  if (isMailUrl(url)) return { name: mailHostOf(url), origin: hiddenMailbox + mailHostOf(url) };
  const { hostname, origin } = new URL(url);
  return { name: hostname, origin };
}

/** A callback URL as holders of read-only tokens see it: its origin and the mark; pure. */
export function hideUrlPath(url: string): string {
  if (!URL.canParse(url)) return '';
  return isMailUrl(url) ? placeOf(url).origin : placeOf(url).origin + hiddenPath;
}

/** Whether a URL is a copy of one shown with its path hidden; pure. */
export function isHiddenUrl(url: string): boolean {
  return url.endsWith(hiddenPath) || url.endsWith(encodeURI(hiddenPath)) || url.startsWith(hiddenMailbox);
}

const hidden: UrlVerdict = {
  ok: false,
  problem: 'it is as a read-only token shows it, without what only its owner knows; give the URL itself',
};

/** The verdict of the rules on a URL of a request, without resolving its name. */
export function judgeUrl(url: string, checkUrl: (url: string) => UrlVerdict): UrlVerdict {
  return isHiddenUrl(url) ? hidden : checkUrl(url);
}

/** The errors of a field with a URL by that verdict. */
export function urlErrors(verdict: UrlVerdict, path = 'url'): FieldError[] {
  if (verdict.ok) return [];
  const { problem } = verdict;
  const message = `is refused: ${problem.charAt(0).toLowerCase()}${problem.slice(1).replace(/\.$/, '')}`;
  return [{ path, message }];
}
