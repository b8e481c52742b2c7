import { localUrl } from '@sandyard/api/program/listening'
import type { CliParts } from '../cli-parts.ts'
import { openFacts, type Facts } from './facts/facts.ts'
import { groupHead, resultLines, summary, toReport, type Looks } from './report.ts'
import { runChecks, type CheckResult } from './run-checks.ts'
import { runFixes } from './run-fixes.ts'
import { selectChecks } from './select-checks.ts'

export interface DoctorOptions {
  readonly deep?: boolean
  readonly only?: string
  readonly fix?: boolean
}

/** Runs the checks and prints what they found. @returns false when a check failed */
export async function doctor(parts: CliParts, { deep = false, only, fix = false }: DoctorOptions): Promise<boolean> {
  const groups = selectChecks(only)
  await using facts = openDoctorFacts(parts, deep)
  const { output, signal } = parts
  const looks = looksOf(parts)
  const results: CheckResult[] = []
  let head = ''
  for await (const result of runChecks(groups, facts, signal)) {
    results.push(result)
    if (output.isJson) continue
    if (result.group !== head) output.line(groupHead(result.group, looks))
    head = result.group
    for (const line of resultLines(result, looks)) output.line(line)
  }
  const report = toReport(results)
  output.result(report, () => output.line(`\n${summary(results, looks)}`))
  if (fix) await runFixes(parts, results)
  return report.ok
}

function openDoctorFacts({ connection, config, environment }: CliParts, isDeep: boolean): Facts {
  const { apiKey, directory } = connection
  // Port 0 is known to the server only: the checks find nothing there, and the others go on.
  const nowhere = localUrl(config.bind, 0)
  const apiUrl = config.apiPort === 0 && config.apiUrl === undefined ? nowhere : connection.apiUrl
  const sandboxUrl = config.proxyPort === 0 && config.sandboxUrl === undefined ? nowhere : connection.sandboxUrl
  const metricsUrl = localUrl(config.bind, config.metricsPort)
  return openFacts({ environment, addresses: { apiUrl, sandboxUrl, metricsUrl, apiKey }, dataDir: directory?.path, isDeep })
}

function looksOf({ output: { stdout }, environment }: CliParts): Looks {
  const isTerminal = stdout.isTTY
  return { hasColours: isTerminal && (environment['NO_COLOR'] ?? '') === '', width: isTerminal ? stdout.columns : undefined }
}
