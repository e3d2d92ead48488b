import type { FieldError } from '../../../json/validation-problems.ts';
import type { ApiDeps, UrlVerdict } from '../../deps.ts';
import { isHiddenUrl } from '../hidden-url.ts';

const hidden: UrlVerdict = {
  ok: false,
  problem: 'it is as a read-only token shows it, without its path; give the URL itself',
};

/** The verdict of the rules on a URL of a request, without a look at where its name leads. */
export function judgeUrl(url: string, checkUrl: ApiDeps['checkUrl']): UrlVerdict {
  return isHiddenUrl(url) ? hidden : checkUrl(url);
}

/** The errors of a field with a URL by that verdict. */
export function urlErrors(verdict: UrlVerdict, path = 'url'): FieldError[] {
  if (verdict.ok) return [];
  const { problem } = verdict;
  const message = `is refused: ${problem.charAt(0).toLowerCase()}${problem.slice(1).replace(/\.$/, '')}`;
  return [{ path, message }];
}
