import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';
import { addExamples } from './examples.ts';
import type { ApiDocument } from './json-schema.ts';
import { nameBodies } from './name-schemas.ts';
import { openWhatIsSent } from './open-schemas.ts';
import { sayDefaults } from './say-defaults.ts';

type Written = OpenAPIV3.Document | OpenAPIV3_1.Document;

/**
 * The OpenAPI document as clients are generated from it; pure. Every body has a name and an example, and nothing
 * that the daemon sends is closed.
 */
export function finishDocument(document: Partial<Written>): Partial<Written> {
  const made = document as unknown as ApiDocument;
  return addExamples(nameBodies(sayDefaults(openWhatIsSent(made)))) as unknown as Partial<Written>;
}
