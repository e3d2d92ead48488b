import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { format } from 'prettier';
import { knownStatuses } from '../../../src/partner/filing-statuses.ts';
import { deriveDefinition, type Target } from './connector.ts';
import type { ApiDocument } from './document.ts';
import { deriveProperties } from './properties.ts';

/** The files of a connector by name: their texts. */
export type ConnectorFiles = Readonly<Record<string, string>>;

// Maximum bytes of the document; it has about 400 000.
const documentBytesMax = 16_000_000;

/** The daemon's OpenAPI document as its sources print it now. */
export async function readDocument(): Promise<ApiDocument> {
  const script = fileURLToPath(new URL('../../../test/support/api/write-document.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script], { maxBuffer: documentBytesMax });
  return JSON.parse(stdout) as ApiDocument;
}

/** The files of the connector that follow from a document. One for a host has no policies. */
export async function deriveFiles(document: ApiDocument, target: Target): Promise<ConnectorFiles> {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const definition = deriveDefinition({ document, version, statuses: knownStatuses, target });
  return {
    'apiDefinition.swagger.json': await json(definition),
    ...(target.kind === 'host' ? {} : { 'apiProperties.json': await json(deriveProperties(document)) }),
  };
}

async function json(value: unknown): Promise<string> {
  return format(JSON.stringify(value), { parser: 'json', printWidth: 110 });
}
