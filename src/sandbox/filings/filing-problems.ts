import { type Problem } from '../errors.ts';
import { documentsFor, type FilingState } from './filing-states.ts';
import { pairOf } from './filing.ts';
import { type CreateFilingInput } from './input-schema.ts';
import { type Upload, type Uploads } from './uploads.ts';

type FileInput = CreateFilingInput['files'][number];

/**
 * The violations of the rules of `create-filing` in a well-formed body, empty when it may be filed. Each
 * required document of the filing type must be there, and each file must be for one of them and uploaded by
 * this account. Endorsement fields are for endorsement filings only.
 */
export function filingProblems(
  input: CreateFilingInput,
  state: FilingState,
  owner: string,
  findUpload: Uploads['find'],
): Problem[] {
  return [
    ...endorsementProblems(input),
    ...missingDocuments(input, state),
    ...input.files.flatMap((file, index) => fileProblems(file, index, input, state)),
    ...input.files.flatMap((file, index) => uploadProblems(file, index, owner, findUpload(file.filePath))),
  ];
}

function endorsementProblems(input: CreateFilingInput): Problem[] {
  if (pairOf(input.filingType) === 'ed') return [];
  return (['endorsementNumber', 'endorsementEffectiveDate'] as const)
    .filter((field) => input[field] !== undefined)
    .map((field) => ({ field, message: 'is for endorsement filings only' }));
}

function missingDocuments(input: CreateFilingInput, state: FilingState): Problem[] {
  const given = new Set(input.files.map((file) => file.name));
  return documentsFor(state, input.filingType)
    .filter(({ name }) => !given.has(name))
    .map(({ name }) => ({ field: 'files', message: `the required document "${name}" is missing` }));
}

function fileProblems(
  file: FileInput,
  index: number,
  input: CreateFilingInput,
  state: FilingState,
): Problem[] {
  const problems: Problem[] = [];
  if (!documentsFor(state, input.filingType).some(({ name }) => name === file.name)) {
    const message = `is no required document of ${state.stateAbbr} for ${input.filingType}`;
    problems.push({ field: `files.${index}.name`, message });
  }
  if (input.files.findIndex(({ filePath }) => filePath === file.filePath) !== index) {
    problems.push({ field: `files.${index}.filePath`, message: 'is given twice' });
  }
  return problems;
}

function uploadProblems(
  file: FileInput,
  index: number,
  owner: string,
  upload: Upload | undefined,
): Problem[] {
  const field = `files.${index}.filePath`;
  if (upload === undefined || upload.owner !== owner || !upload.stored) {
    return [{ field, message: 'no file was uploaded to this path' }];
  }
  if (upload.filingId !== null) return [{ field, message: 'was uploaded to another filing' }];
  if (upload.fileName !== file.fileName) {
    return [{ field: `files.${index}.fileName`, message: 'differs from the name given for the upload' }];
  }
  return [];
}
