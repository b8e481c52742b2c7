import { setTimeout as delay } from 'node:timers/promises'
import type { ReadyMadeTemplate } from '@sandyard/api-contract/templates/ready-made'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'

const LOOK_EVERY_MS = 500
/** The longest build of a server is an hour, unless its settings say otherwise. */
const MOST_LOOKS = (2 * 3_600_000) / LOOK_EVERY_MS

/**
 * Builds a ready-made template and shows the step and the newest line of its log until it is installed.
 *
 * @throws CliFailure `failed` with the reason of the build
 */
export async function installTemplate(parts: CliParts, name: string, { wait }: { readonly wait: boolean }): Promise<void> {
  const { api, output, signal } = parts
  let template = await api.call<ReadyMadeTemplate>('installReadyMadeTemplate', { path: { name } })
  const isBuilt = template.build !== null
  let shown = ''
  const mostLooks = wait ? MOST_LOOKS : 0
  for (let looks = 0; template.build !== null && looks < mostLooks; looks += 1) {
    const line = progressText(template)
    if (line !== shown) output.say(line)
    shown = line
    await delay(LOOK_EVERY_MS, undefined, { signal })
    template = await find(parts, name)
  }
  const { failure, state } = template
  if (state === 'taken') throw new CliFailure(EXIT.failed, `The name ${name} belongs to a template of a team: rename that first.`)
  if (failure !== null) throw new CliFailure(EXIT.failed, `${name} could not be built: ${failure.message}`)
  output.result(template, () => output.say(resultText(template, isBuilt)))
}

async function find({ api }: CliParts, name: string): Promise<ReadyMadeTemplate> {
  const found = (await api.call<ReadyMadeTemplate[]>('listReadyMadeTemplates')).find((template) => template.name === name)
  if (found === undefined) throw new CliFailure(EXIT.notFound, `The server has no ready-made template ${name} any more.`)
  return found
}

function progressText({ name, build }: ReadyMadeTemplate): string {
  const where = build?.step === null || build === null ? '' : ` step ${build.step} of ${build.steps}`
  return `${name}:${where} ${build?.lastLine ?? 'waits for its turn'}`
}

function resultText({ name, build, version }: ReadyMadeTemplate, isBuilt: boolean): string {
  if (build !== null) return `${name} is being built: sandyard templates list shows when it is installed.`
  return isBuilt ? `${name} is installed (version ${version}).` : `${name} is up to date (version ${version}).`
}
