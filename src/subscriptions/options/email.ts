import { isMailUrl } from '../../egress/mail-address.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import type { Subscription } from '../subscription.ts';
import { signaturesOf } from '../signing-secret.ts';
import type { Option } from './option.ts';
import { asksForProof } from './verification.ts';

// Fields that do not apply to e-mail: whether the settings have one, and what to do.
const without: readonly (readonly [string, (settings: Subscription) => boolean, string])[] = [
  ['headers', ({ headers }) => Object.keys(headers).length > 0, 'leave it out, or give {}'],
  ['auth', ({ auth }) => auth != null, 'leave it out, or give null'],
  ['tls', ({ tls }) => tls != null, 'leave it out, or give null'],
  ['signatures', (settings) => signaturesOf(settings).includes('v1a'), 'leave it out, or give ["v1"]'],
  ['verification', asksForProof, 'leave it out, or give "none"'],
];

// E-mail has one format, and no other endpoint has it.
function emailErrors(settings: Subscription): FieldError[] {
  const { url, format } = settings;
  if (!isMailUrl(url))
    return format === 'email'
      ? [{ path: 'format', message: '"email" needs a url that begins with mailto:' }]
      : [];
  const unfit = without.filter(([, has]) => has(settings));
  const errors = unfit.map(([path, , remedy]) => ({ path, message: `does not apply to e-mail: ${remedy}` }));
  if (format === 'email') return errors;
  return [{ path: 'format', message: 'must be "email" for a mailto: URL, or be left out' }, ...errors];
}

/** The option of e-mail: a `mailto:` URL, which sets `format`. */
export const email = {
  input: {},
  shown: {},
  settingErrors: emailErrors,
  stored(body: Partial<Subscription>, former: Subscription | null): Partial<Subscription> {
    if (body.format !== undefined) return {};
    if (isMailUrl(body.url ?? former?.url ?? '')) return { format: 'email' };
    return former?.format === 'email' ? { format: 'standard' } : {};
  },
  show: ({ format }: Pick<Subscription, 'format'>) => ({ format }),
} satisfies Option;
