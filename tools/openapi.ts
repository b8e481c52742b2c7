/** `tools/openapi.ts`: checks the description of the control plane with a public validator. With the name of a file it also writes it there. */
import { writeFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describeApi } from '../apps/api/src/http/openapi/describe-api.ts'
import { findGaps } from './openapi/find-gaps.ts'

const document = JSON.parse(JSON.stringify(await describeApi())) as Record<string, unknown>
const [file] = process.argv.slice(2)
if (file !== undefined) writeFileSync(file, `${JSON.stringify(document, undefined, 2)}\n`)

const { valid, errors } = await new Validator().validate(document)
const problems = [...(valid ? [] : [typeof errors === 'string' ? errors : JSON.stringify(errors, undefined, 2)]), ...findGaps(document)]
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
