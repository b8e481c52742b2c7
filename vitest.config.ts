import { defaultExclude, defineConfig } from 'vitest/config'
import { reporters } from './tools/gate/count-reporter.ts'
import { SlowFilesFirst } from './tools/gate/slow-files-first.ts'

/** For a machine with two slow cores: a wait ends as soon as its condition holds. */
const PATIENT = { expect: { poll: { timeout: 30_000, interval: 50 } } }

/** Young objects of tests live long: with the default of 16 MiB a seventh of the time went to their collection. */
const ROOMY = ['--max-semi-space-size=64']

/** Tests that need more than this process (Postgres, the Docker engine, the SDKs) say so in their file name. */
export default defineConfig({
  test: {
    reporters: reporters(),
    sequence: { sequencer: SlowFilesFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{apps,packages}/*/src/**/*.test.ts', 'tools/**/*.test.ts', 'bench/src/**/*.test.ts'],
          exclude: ['**/*.engine.test.ts', ...defaultExclude],
          execArgv: ROOMY,
          // Files of one worker share loaded modules, whose imports took two thirds of the stage. No test changes the state of a module.
          isolate: false,
          testTimeout: 30_000,
          ...PATIENT,
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['{apps,packages}/*/test/**/*.int.test.ts'],
          globalSetup: ['packages/test-kit/src/postgres-for-run.ts'],
          setupFiles: ['packages/test-kit/src/record-statements.ts'],
          // Files of one worker share loaded modules: imports took a fifth of the stage. No test changes the state of a module.
          execArgv: ROOMY,
          // oxlint-disable-next-line node/no-process-env -- a record of statements belongs to one file (`npm run schema:record`)
          isolate: process.env['SANDYARD_RECORD_STATEMENTS'] !== undefined,
          ...PATIENT,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 4,
        },
      },
      {
        test: {
          name: 'engine',
          include: ['{apps,packages}/*/test/**/*.engine.test.ts', 'tools/**/*.engine.test.ts'],
          execArgv: ROOMY,
          // Files of one worker share loaded modules. No test changes the state of a module.
          isolate: false,
          ...PATIENT,
          testTimeout: 180_000,
          hookTimeout: 600_000,
          maxWorkers: 4,
        },
      },
      {
        test: {
          name: 'acceptance',
          include: ['tests/acceptance/**/*.acc.test.ts'],
          execArgv: ROOMY,
          isolate: false,
          ...PATIENT,
          testTimeout: 180_000,
          hookTimeout: 300_000,
          maxWorkers: 4,
        },
      },
      {
        test: {
          name: 'examples',
          include: ['tests/examples/*.example.test.ts'],
          ...PATIENT,
          testTimeout: 540_000,
          hookTimeout: 120_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: 'code-interpreter',
          include: ['tests/code-interpreter/**/*.interpreter.test.ts'],
          ...PATIENT,
          testTimeout: 60_000,
          // The first create installs the template where it is not built yet.
          hookTimeout: 900_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['tests/browser/**/*.browser.test.ts'],
          // One browser for all: its contexts share nothing.
          globalSetup: ['tests/browser/support/browser-for-run.ts'],
          isolate: false,
          ...PATIENT,
          testTimeout: 180_000,
          hookTimeout: 120_000,
          // Two files side by side, with the concurrent tests of each.
          maxWorkers: 2,
          maxConcurrency: 3,
        },
      },
      {
        test: {
          name: 'ready-made',
          include: ['tests/ready-made/**/*.made.test.ts'],
          ...PATIENT,
          testTimeout: 180_000,
          // Builds of desktops and the like.
          hookTimeout: 1_800_000,
          maxWorkers: 1,
        },
      },
    ],
  },
})
