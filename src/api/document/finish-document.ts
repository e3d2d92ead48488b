import { addExamples } from './examples.ts';
import type { ApiDocument } from './json-schema.ts';
import { nameBodies } from './name-schemas.ts';
import { openWhatIsSent } from './open-schemas.ts';
import { sayDefaults } from './say-defaults.ts';

/**
 * The OpenAPI document as clients are generated from it; pure. Every body has a name and an example, and
 * nothing that the daemon sends is closed.
 */
export function finishDocument(document: ApiDocument): ApiDocument {
  return addExamples(nameBodies(sayDefaults(openWhatIsSent(document))));
}
