import type { FieldError } from '../../json/validation-problems.ts';
import type { Subscription } from '../subscription.ts';
import { auth } from './auth.ts';
import { autoEnable } from './auto-enable.ts';
import { email } from './email.ts';
import { expiresAt } from './expires-at.ts';
import { filter } from './filter.ts';
import { headers } from './headers.ts';
import { limits } from './limits.ts';
import type { Option, OptionContext } from './option.ts';
import { signatures } from './signatures.ts';
import { tls } from './tls.ts';
import { verification } from './verification.ts';

const options = [
  headers,
  filter,
  signatures,
  auth,
  tls,
  limits,
  verification,
  expiresAt,
  autoEnable,
  email,
] as const;
const all: readonly Option[] = options;

type All<Part> = (Part extends unknown ? (part: Part) => void : never) extends (part: infer Both) => void
  ? Both
  : never;

/** The fields of all options in requests. */
export const optionInputs = merged((option) => option.input) as All<(typeof options)[number]['input']>;

/** The fields of all options in responses. */
export const optionsShown = merged((option) => option.shown) as All<(typeof options)[number]['shown']>;

/** The errors that stand beside `known`, those of the schema. */
export function earlyErrors(
  body: object,
  known: readonly FieldError[],
  context: OptionContext,
): FieldError[] {
  return all.flatMap((option) => option.earlyErrors?.({ ...body }, known, context) ?? []);
}

/** The errors of the options in a body that its schema has accepted. */
export function optionErrors(body: object, context: OptionContext): FieldError[] {
  return all.flatMap((option) => option.errors?.(body as never, context) ?? []);
}

/** The errors of the settings that a body leads to. */
export function settingErrors(settings: Subscription): FieldError[] {
  return all.flatMap((option) => option.settingErrors?.(settings) ?? []);
}

/** The settings that a checked body sets. `former` is null for a new subscription. */
export function storedOptions(body: object, former: Subscription | null): Partial<Subscription> {
  return merged((option) => option.stored(body as never, former));
}

/** The options of a subscription as the API shows them; never a secret. */
export function showOptions(subscription: Subscription) {
  return merged((option) => option.show(subscription)) as All<ReturnType<(typeof options)[number]['show']>>;
}

function merged(partOf: (option: Option) => object): object {
  return Object.assign({}, ...all.map(partOf)) as object;
}
