import { withAllowedRate, type DeliveryLimits } from './limits.ts';

/** How an endpoint shows that it wants the callbacks (docs/endpoints/ownership.md). */
export const verifications = ['none', 'challenge', 'cloudevents'] as const;

/** One of these ways; `none` asks for nothing. */
export type Verification = (typeof verifications)[number];

/** The verification of an endpoint. */
export interface Proof {
  readonly method: Exclude<Verification, 'none'>;
  /** Milliseconds on Redis's clock. */
  readonly at: number;
  /** Requests a minute that the endpoint has allowed; null where it has named no number. */
  readonly allowedRate: number | null;
}

/** The verification of a subscription; plain ones have neither field. */
export interface VerificationSettings {
  readonly verification?: Verification;
  /** For the present URL and the present way; null until then. */
  readonly verified?: Proof | null;
}

type Verifiable = VerificationSettings & DeliveryLimits & { readonly url: string };

/** Whether verification is asked for, whether or not it was met. */
export function asksForProof({ verification = 'none' }: VerificationSettings): boolean {
  return verification !== 'none';
}

/** Whether nothing may be sent yet. */
export function isUnverified(settings: VerificationSettings): boolean {
  return asksForProof(settings) && (settings.verified ?? null) === null;
}

/**
 * The settings after a change. A proof stays for the same URL, path and query included, and the same way.
 * Settings without verification have neither field. The allowed rate goes with the proof.
 */
export function withFormerProof<T extends Verifiable>(settings: T, former: Verifiable): T {
  const { verification = 'none', verified: _, ...rest } = settings;
  if (verification === 'none') {
    const { verification: __, allowedRate: ___, ...plain } = rest as T;
    return plain as T;
  }
  const isSame = settings.url === former.url && verification === former.verification;
  const verified = isSame ? (former.verified ?? null) : null;
  return { ...rest, verification, verified, ...(verified === null ? { allowedRate: null } : {}) } as T;
}

/** The fields of a new subscription that asks for a verification; none for `none`. */
export function verificationOf({ verification = 'none' }: VerificationSettings): VerificationSettings {
  return verification === 'none' ? {} : { verification, verified: null };
}

/** The settings with a proof, and with the rate that came with it. */
export function withProof<T extends VerificationSettings & DeliveryLimits>(settings: T, proof: Proof): T {
  return withAllowedRate({ ...settings, verified: proof }, proof.allowedRate);
}
