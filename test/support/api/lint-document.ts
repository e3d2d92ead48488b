import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import type { RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { writeDocument } from './inert-document.ts';

/**
 * `npm run check:api`: what Redocly's recommended rules and Spectral's rules for OpenAPI find in the document, one
 * line each. The exit code is 1 if they find anything, warnings included.
 */
const name = 'openapi.json';
const source = JSON.stringify(await writeDocument());

const config = await createConfig({ extends: ['recommended'] });
const byRedocly = await lintFromString({ source, absoluteRef: name, config });

const spectral = new spectralCore.Spectral();
spectral.setRuleset({ extends: [rulesets.oas as unknown as RulesetDefinition] });
const bySpectral = await spectral.run(new spectralCore.Document(source, parsers.Json, name));

const findings = [
  ...byRedocly.map(
    ({ ruleId, message, location }) => `redocly ${ruleId}: ${location[0]?.pointer ?? ''} ${message}`,
  ),
  ...bySpectral.map(({ code, message, path }) => `spectral ${code}: ${path.join('/')} ${message}`),
];
process.stdout.write(findings.map((line) => `${line}\n`).join(''));
process.stdout.write(`OpenAPI document: ${findings.length} findings\n`);
if (findings.length > 0) process.exitCode = 1;
