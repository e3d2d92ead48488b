/** The place to which a sealed text belongs, and in which alone it opens. */
export interface SealPlace {
  readonly account: string;
  /** Empty for a secret of the account itself, and for what is remembered of a registration. */
  readonly subscription: string;
  readonly field: 'partnerKey' | 'privateSettings' | 'registration';
  /**
   * The origin that it is sent to (`partnerKey`, `privateSettings`), or the digest of the idempotency key
   * under which it is remembered (`registration`).
   */
  readonly peer: string;
}

/** The place of an account's partner key, which is sent to `baseUrl`. */
export function partnerKeyPlace(account: string, baseUrl: string): SealPlace {
  return { account, subscription: '', field: 'partnerKey', peer: originOf(baseUrl) };
}

/**
 * The place of a subscription's secrets, headers and credentials; `url` is the endpoint that they are for.
 */
export function privateSettingsPlace(account: string, subscription: string, url: string): SealPlace {
  return { account, subscription, field: 'privateSettings', peer: originOf(url) };
}

/** The place of what is remembered of a registration; `digest` is that of its idempotency key. */
export function registrationPlace(account: string, digest: string): SealPlace {
  return { account, subscription: '', field: 'registration', peer: digest };
}

/** The owner of a sealed text, for messages and logs: `account:default`, `subscription:default/sub_1`. */
export function placeName({ account, subscription, field }: SealPlace): string {
  if (field === 'registration') return `registration:${account}`;
  return subscription === '' ? `account:${account}` : `subscription:${account}/${subscription}`;
}

// A stored URL that is none stands for itself.
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
