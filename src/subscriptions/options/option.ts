import type { TSchema } from 'typebox';
import type { FieldError } from '../../json/validation-problems.ts';
import type { Subscription } from '../subscription.ts';
import type { UrlVerdict } from './url.ts';

/** The rules of the operator that options are checked by. */
export interface OptionContext {
  readonly checkUrl: (url: string) => UrlVerdict;
  /** Maximum number of callbacks in flight of a subscription. */
  readonly maxInFlight: number;
  /** Milliseconds on Redis's clock. */
  readonly now: number;
}

/** An option of subscriptions, all in one file: its fields, their checks, and what is stored and shown. */
export interface Option {
  /** The fields in requests. */
  readonly input: Readonly<Record<string, TSchema>>;
  /** The fields in responses. */
  readonly shown: Readonly<Record<string, TSchema>>;
  /** The errors in a body that its schema may have refused, with `known`; they stand beside these. */
  readonly earlyErrors?: (
    body: Readonly<Record<string, unknown>>,
    known: readonly FieldError[],
    context: OptionContext,
  ) => FieldError[];
  /** The errors in a body that its schema has accepted. */
  readonly errors?: (body: never, context: OptionContext) => FieldError[];
  /** The errors of the settings that a body leads to. */
  readonly settingErrors?: (settings: Subscription) => FieldError[];
  /**
   * The settings that a checked body sets, none for what it does not name; `former` is null for a new
   * subscription.
   */
  readonly stored: (body: never, former: Subscription | null) => Partial<Subscription>;
  /** The fields as the API shows them; never a secret. */
  readonly show: (subscription: Subscription) => object;
}

/** Those of some fields that a body names; null is a value. */
export function given<Body extends object, Name extends keyof Body>(
  body: Body,
  ...names: readonly Name[]
): { [Each in Name]?: Exclude<Body[Each], undefined> } {
  const named = names.filter((name) => body[name] !== undefined);
  return Object.fromEntries(named.map((name) => [name, body[name]])) as {
    [Each in Name]?: Exclude<Body[Each], undefined>;
  };
}
