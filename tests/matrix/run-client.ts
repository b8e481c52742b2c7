import { isBefore, newestRelease } from './releases.ts'
import type { Flow, MatrixClient } from './client.ts'
import { install, type Installation } from './install.ts'
import type { Row } from './row.ts'
import { runFlow, type Outcome } from './run-flow.ts'
import { hasTemplate } from './settings.ts'

interface How {
  readonly settings: Readonly<Record<string, string>>
  readonly newestOnly: boolean
  readonly say: (line: string) => void
}

/** Runs the flows of each release of a client. A release that cannot be had becomes a row that says why. */
export async function runClient(client: MatrixClient, how: How): Promise<{ rows: Row[]; failures: number }> {
  const rows: Row[] = []
  let failures = 0
  const add = (version: string, flow: string, { text, isGood, output }: Outcome): void => {
    rows.push({ client: client.name, version, flow, result: text, date: new Date().toISOString().slice(0, 10) })
    how.say(`${isGood ? 'ok  ' : 'FAIL'} ${client.name} ${version}, ${flow}: ${text}`)
    if (isGood) return
    failures += 1
    how.say(output.replaceAll(/^/gm, '       '))
  }
  const newest = await attempt(() => newestRelease(client))
  if ('failed' in newest) add('newest', 'install', newest.failed)
  const older = how.newestOnly ? [] : client.older
  for (const version of [...('value' in newest ? [newest.value] : []), ...older]) {
    const installed = await attempt(() => install(client, version))
    if ('failed' in installed) {
      add(version, 'install', installed.failed)
      continue
    }
    for (const flow of client.flows) {
      if (flow.since !== undefined && isBefore(version, flow.since)) continue
      add(version, flow.name, await tryFlow(flow, installed.value, how.settings))
    }
  }
  return { rows, failures }
}

async function tryFlow(flow: Flow, installation: Installation, settings: Readonly<Record<string, string>>): Promise<Outcome> {
  if (flow.template !== undefined && !(await hasTemplate(settings, flow.template))) {
    return { isGood: true, text: `template \`${flow.template}\` not installed`, output: '' }
  }
  return runFlow(flow, installation, settings)
}

async function attempt<T>(work: () => Promise<T>): Promise<{ value: T } | { failed: Outcome }> {
  try {
    return { value: await work() }
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).slice(-300)
    return { failed: { isGood: false, text: `not to be had: ${reason}`, output: reason } }
  }
}
