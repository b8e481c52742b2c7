import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'
import type { Counts } from './counts.ts'

/**
 * Writes the gate's counts as JSON after each file, so that the counts of an interrupted run are kept. vitest's own JSON reporter
 * contains neither the reason of a skip nor errors outside of tests. A file that could not be loaded, and an error outside of all tests,
 * count as one failure each.
 */
export class CountReporter implements Reporter {
  readonly #file: string
  readonly #ended: TestModule[] = []

  constructor(file: string) {
    this.#file = file
  }

  onTestModuleEnd(module: TestModule): void {
    this.#ended.push(module)
    this.#write(countsOf(this.#ended, []))
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    this.#write(countsOf(modules, unhandled))
  }

  #write(counts: Counts): void {
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(this.#file, JSON.stringify(counts))
  }
}

function countsOf(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Counts {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const passed = tests.filter((test) => test.result().state === 'passed')
  const failed = tests.filter((test) => ['failed', 'pending'].includes(test.result().state))
  const skipped = tests.filter((test) => test.result().state === 'skipped')
  const broken = modules.flatMap((module) => [module, ...module.children.allSuites()].filter((part) => part.errors().length > 0))
  const failures = [
    ...failed.map(nameOf),
    ...broken.map(
      (part) => `${part.type === 'module' ? relative(process.cwd(), part.moduleId) : part.fullName}: ${firstLine(part.errors()[0])}`,
    ),
    ...unhandled.map((error) => `outside of all tests: ${firstLine(error)}`),
  ]
  return {
    passed: passed.length,
    failed: failures.length,
    skipped: skipped.length,
    skips: skipped.map((test) => `${nameOf(test)}: ${reasonOf(test)}`),
    failures,
  }
}

function nameOf(test: TestCase): string {
  return `${relative(process.cwd(), test.module.moduleId)} > ${test.fullName}`
}

function reasonOf(test: TestCase): string {
  const result = test.result()
  return (result.state === 'skipped' ? result.note : undefined) ?? 'no reason was given'
}

function firstLine(error: { readonly message: string } | undefined): string {
  return error?.message.split('\n')[0] ?? 'no message'
}

/** The reporters of a run. `SANDYARD_TEST_REPORT` names a file for the counts; vitest's own JSON is written next to it. */
export function reporters(): (string | CountReporter | ['json', { outputFile: string }])[] {
  const file = process.env['SANDYARD_TEST_REPORT']
  if (file === undefined) return ['default']
  return ['default', new CountReporter(file), ['json', { outputFile: file.replace(/\.json$/, '.vitest.json') }]]
}
