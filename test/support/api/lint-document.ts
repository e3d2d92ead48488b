import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import type { RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { toOpenApi30 } from '../../../src/api/document/finish-document.ts';
import { writeDocument } from './inert-document.ts';

/**
 * `npm run check:api`: what Redocly's recommended rules and Spectral's rules for OpenAPI find in the documents of
 * OpenAPI 3.1 and 3.0, one line each. The exit code is 1 if they find anything, warnings included.
 */
const document = await writeDocument();
const findings = [
  ...(await lint('openapi.json', document)),
  ...(await lint('openapi-3.0.json', toOpenApi30(document))),
];
process.stdout.write(findings.map((line) => `${line}\n`).join(''));
process.stdout.write(`OpenAPI documents: ${findings.length} findings\n`);
if (findings.length > 0) process.exitCode = 1;

async function lint(name: string, written: object): Promise<string[]> {
  const source = JSON.stringify(written);
  const config = await createConfig({ extends: ['recommended'] });
  const byRedocly = await lintFromString({ source, absoluteRef: name, config });
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset({ extends: [rulesets.oas as unknown as RulesetDefinition] });
  const bySpectral = await spectral.run(new spectralCore.Document(source, parsers.Json, name));
  return [
    ...byRedocly.map(
      ({ ruleId, message, location }) =>
        `${name} redocly ${ruleId}: ${location[0]?.pointer ?? ''} ${message}`,
    ),
    ...bySpectral.map(({ code, message, path }) => `${name} spectral ${code}: ${path.join('/')} ${message}`),
  ];
}
