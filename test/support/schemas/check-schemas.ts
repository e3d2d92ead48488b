import { judgeFiles, judgeSchemas } from './judge-schemas.ts';
import { committedFiles, lastRelease, meantBreaks, presentFiles, presentSchemas } from './schema-files.ts';

/**
 * `npm run check:schemas`: whether the files in `schemas` are as the code has them, and whether the schemas
 * still hold what the last release promised to receivers. The exit code is 1 if not.
 */
const findings = [
  ...judgeSchemas(lastRelease(), presentSchemas(), meantBreaks()),
  ...judgeFiles(await presentFiles(), committedFiles()),
];
process.stdout.write(findings.map((line) => `${line}\n`).join(''));
process.stdout.write(`Schemas of events: ${findings.length} findings\n`);
if (findings.length > 0) process.exitCode = 1;
