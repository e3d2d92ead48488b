import { Type } from 'typebox';
import type { LogEntry } from '../../events/event-log.ts';
import * as s from '../shared/schema.ts';

type Document = Readonly<Record<string, unknown>>;

/** The owner of a filing and the names of its documents; null where that is not known. */
export interface FiledWith {
  readonly userId: string | null;
  readonly documents: readonly string[] | null;
}

/**
 * The owner and the documents by the first of these events that has the filing; null where none of them has
 * it, or it does not say so; pure. The daemon keeps neither.
 */
export function filedWith(newestFirst: readonly Pick<LogEntry, 'body'>[]): FiledWith {
  for (const { body } of newestFirst) {
    const { data } = JSON.parse(body.toString()) as { readonly data: Document };
    if (!data['filing']) continue;
    const { userId, userFiles } = Object(data['filing']) as Document;
    return {
      userId: typeof userId === 'string' ? userId : null,
      documents: Array.isArray(userFiles) ? userFiles.map(nameOf).filter((name) => name !== '') : null,
    };
  }
  return { userId: null, documents: null };
}

function nameOf(file: unknown): string {
  const { name, fileName } = Object(file) as Document;
  return [name, fileName].find((text) => typeof text === 'string' && text !== '')?.toString() ?? '';
}

const ofEvent = 'By the newest of `events` that has the filing; null if none has.';

/** The fields of `filedWith` in a response. */
export const filedWithFields = {
  userId: s.stringOrNull(`Who filed it. ${ofEvent}`, { examples: ['user_42'] }),
  documents: s.nullable(Type.Array(Type.String({ examples: ['Signed affidavit'] })), {
    description: `The names of its documents (\`userFiles\`). ${ofEvent}`,
  }),
};
