import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  asksForProof,
  verifications,
  type Verification,
  type VerificationSettings,
} from '../../../subscriptions/settings/verification.ts';
import { invalidRequest } from '../../shared/problem.ts';
import { nullable, oneOf, record, time } from '../../shared/schema.ts';

/** The operator's rule for verification. */
export interface VerificationRule {
  /** Whether `none` is refused. */
  readonly required: boolean;
  /** Hosts for which it is not: names in lower case, and `*.` with a name for all names below it. */
  readonly exemptHosts: readonly string[];
  /** The name under which endpoints are asked for permission; null where PUBLIC_URL is not set. */
  readonly origin: string | null;
}

/** `verification` in requests and responses. */
export const verificationSchema = oneOf(verifications, {
  description:
    'How the endpoint shows that it wants the callbacks, before anything about a filing is sent: `challenge` (it answers a POST with the text in it), `cloudevents` (it answers OPTIONS with `WebHook-Allowed-Origin`), or `none`. Asked anew after a change of `url`.',
  examples: ['none'],
});

/** `verified` in responses. */
export const verifiedSchema = nullable(
  record({
    method: oneOf(verifications.slice(1) as unknown as readonly ['challenge', 'cloudevents']),
    at: time('When the endpoint was verified.'),
    allowedRate: nullable(Type.Integer(), {
      description: 'Requests a minute that the endpoint has allowed; null where it has named no number.',
    }),
  }),
  {
    description:
      'The verification of the present `url`; null until then, and where none is asked for. Until then `state` is `unverified`, and events wait in the log.',
    examples: [null],
  },
);

/** Both fields as the API shows them. */
export function verificationView({ verification = 'none', verified = null }: VerificationSettings): {
  readonly verification: Verification;
  readonly verified: Static<typeof verifiedSchema>;
} {
  return {
    verification,
    verified: verified === null ? null : { ...verified, at: new Date(verified.at).toISOString() },
  };
}

/** A subscription as far as the rule judges it. */
type Judged = VerificationSettings & { readonly url: string };

/**
 * Refuses settings that the operator's rule forbids. A subscription from before the rule stays as it is until
 * its URL or its verification is changed; `former` is null for a new one.
 */
export function requireVerification(rule: VerificationRule, former: Judged | null, settings: Judged): void {
  const isAsked = asksForProof(settings);
  const isSame =
    former !== null &&
    former.url === settings.url &&
    (former.verification ?? 'none') === (settings.verification ?? 'none');
  if (isSame) return;
  if (settings.verification === 'cloudevents' && rule.origin === null)
    throw refused(
      'is not possible here: the operator has not set PUBLIC_URL, whose host is the origin that the endpoint would allow; use "challenge"',
    );
  if (isAsked || !rule.required || isExempt(rule, new URL(settings.url).hostname)) return;
  throw refused(
    'must be "challenge" or "cloudevents": the operator sends to verified endpoints only (REQUIRE_VERIFICATION), but for some hosts, of which this is none (VERIFICATION_EXEMPT_HOSTS)',
  );
}

/** Whether a host need not be verified. */
export function isExempt({ exemptHosts }: Pick<VerificationRule, 'exemptHosts'>, host: string): boolean {
  const name = host.toLowerCase();
  return exemptHosts.some((pattern) =>
    pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern,
  );
}

function refused(message: string) {
  return invalidRequest([{ path: 'verification', message }]);
}
