import { Type } from 'typebox';
import { isHostAmong } from '../../egress/host-patterns.ts';
import { isMailUrl } from '../../egress/mail-address.ts';
import { nullable, oneOf, record, time } from '../../json/schema-parts.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import type { Option } from './option.ts';
import { placeOf } from './url.ts';

// How an endpoint shows that it wants the callbacks (docs/endpoints/ownership.md); `none` asks for nothing.
const verifications = ['none', 'challenge'] as const;

type Verification = (typeof verifications)[number];

/** The verification of an endpoint. */
export interface Proof {
  readonly method: 'challenge';
  /** Milliseconds on Redis's clock. */
  readonly at: number;
}

/** The verification of a subscription; plain ones have neither field. */
export interface VerificationSettings {
  readonly verification?: Verification;
  /** For the present URL; null until then. */
  readonly verified?: Proof | null;
}

type Verifiable = VerificationSettings & { readonly url: string };

/** The operator's rule for verification. */
export interface VerificationRule {
  /** Whether `none` is refused. */
  readonly required: boolean;
  /** Hosts for which it is not: names in lower case, and `*.` with a name for all names below it. */
  readonly exemptHosts: readonly string[];
}

// `verification` in requests and responses.
const verificationSchema = oneOf(verifications, {
  description:
    'How the endpoint shows that it wants the callbacks, before anything about a filing is sent: `challenge` (it answers a POST with the text in it) or `none`. Asked anew after a change of `url`.',
  examples: ['none'],
});

/** `verified` in responses. */
export const verifiedSchema = nullable(
  record({ method: oneOf(['challenge']), at: time('When the endpoint was verified.') }),
  {
    description:
      'The verification of the present `url`; null until then, and where none is asked for. Until then `state` is `unverified`, and events wait in the log.',
    examples: [null],
  },
);

/** Whether verification is asked for, whether or not it was met. */
export function asksForProof(settings: VerificationSettings): boolean {
  return (settings.verification ?? 'none') !== 'none';
}

/** Whether nothing may be sent yet. */
export function isUnverified(settings: VerificationSettings): boolean {
  return asksForProof(settings) && (settings.verified ?? null) === null;
}

/** Both fields as the API shows them. */
export function showVerification({ verification: asked = 'none', verified }: VerificationSettings) {
  const at = verified == null ? null : new Date(verified.at).toISOString();
  return { verification: asked, verified: at === null ? null : { method: 'challenge' as const, at } };
}

/**
 * The errors of settings that the operator's rule forbids. A subscription from before the rule stays as it is
 * until its URL or its verification is changed; `former` is null for a new one.
 */
export function verificationErrors(
  rule: VerificationRule,
  former: Verifiable | null,
  settings: Verifiable,
): FieldError[] {
  const isSame =
    former !== null && former.url === settings.url && asksForProof(former) === asksForProof(settings);
  const isExempt = isHostAmong(rule.exemptHosts, placeOf(settings.url).name);
  if (isSame || asksForProof(settings) || !rule.required || isExempt) return [];
  const why =
    'the operator sends to verified endpoints only (REQUIRE_VERIFICATION), but for some hosts, of which this is none (VERIFICATION_EXEMPT_HOSTS)';
  return isMailUrl(settings.url)
    ? [{ path: 'url', message: `is refused, because a mailbox cannot be verified: ${why}` }]
    : [{ path: 'verification', message: `must be "challenge": ${why}` }];
}

/** The option `verification`. A proof stays for the same URL, path and query included. */
export const verification = {
  input: { verification: Type.Optional(verificationSchema) },
  shown: { verification: verificationSchema, verified: verifiedSchema },
  stored(body: Partial<Verifiable>, former: Verifiable | null): VerificationSettings {
    const asked = { verification: body.verification ?? former?.verification ?? 'none' };
    if (!asksForProof(asked)) return former === null ? {} : { ...asked, verified: null };
    const isSame = former !== null && (body.url ?? former.url) === former.url && asksForProof(former);
    return { ...asked, verified: isSame ? (former.verified ?? null) : null };
  },
  show: showVerification,
} satisfies Option;
