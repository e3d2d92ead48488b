import type { Bundle, ZObject } from 'zapier-platform-core';
import { outputFieldsOf, sampleOf, type FilingEvent } from '../catalogue.ts';
import { isRepeat } from './repeats.ts';
import { findSamples } from './samples.ts';
import { subscribe, unsubscribe, type Selection, type Subscribed } from './subscription.ts';
import { verify } from './verify.ts';

/** What a trigger has of its own. */
export interface HookTrigger {
  readonly label: string;
  /** The events that it may start with; the fields of all of them are offered. */
  readonly offered: readonly string[];
  /** The event that stands for it in the editor, before a daemon was asked. */
  readonly typical: string;
  /** What the user chose. */
  select(input: Readonly<Record<string, unknown>>): Selection & { readonly payload?: 'full' | 'thin' };
}

/** The functions of a trigger by REST hook, each its own for each trigger: Zapier finds them by identity. */
export function hookOperation(trigger: HookTrigger) {
  const selected = (bundle: Bundle) => {
    const { payload, ...selection } = trigger.select(bundle.inputData);
    return { selection, payload };
  };
  return {
    type: 'hook' as const,
    performSubscribe: (z: ZObject, bundle: Bundle): Promise<Subscribed> =>
      subscribe(z, bundle, trigger.label, trigger.select(bundle.inputData)),
    async performUnsubscribe(z: ZObject, bundle: Bundle): Promise<{ id: string }> {
      const id = bundle.subscribeData?.id ?? '';
      if (id !== '') await unsubscribe(z, bundle, id);
      return { id };
    },
    perform: takeCallback,
    performList: (z: ZObject, bundle: Bundle): Promise<FilingEvent[]> =>
      findSamples(z, bundle, selected(bundle).selection),
    outputFields: outputFieldsOf(trigger.offered),
    sample: { ...sampleOf(trigger.typical) },
  };

  /** One item for a callback whose signature fits; none for a test call and for a repeat. */
  async function takeCallback(z: ZObject, bundle: Bundle): Promise<FilingEvent[]> {
    const { id, secret } = (bundle.subscribeData ?? {}) as Partial<Subscribed>;
    const verified = verify(bundle.rawRequest, secret, Date.now());
    if (typeof verified === 'string')
      throw new z.errors.Error(
        `A call to this Zap was refused: ${verified} If the daemon sent it, its secret was changed: turn the Zap off and on to register anew.`,
        'signature_refused',
        401,
      );
    const { type, timestamp, data } = verified.body;
    if (type === 'ping' || (await isRepeat(z, id ?? '', verified))) return [];
    return [{ id: verified.id, type, timestamp, data }];
  }
}
