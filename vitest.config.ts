import { defineConfig } from 'vitest/config'
import { reporters } from './tools/gate/count-reporter.ts'

/** Tests that need more than this process (Postgres, the Docker engine, the SDKs) say so in their file name. */
export default defineConfig({
  test: {
    reporters: reporters(),
    projects: [
      { test: { name: 'unit', include: ['{apps,packages}/*/src/**/*.test.ts', 'tools/**/*.test.ts'], testTimeout: 10_000 } },
      {
        test: {
          name: 'integration',
          include: ['{apps,packages}/*/test/**/*.int.test.ts'],
          globalSetup: ['packages/test-kit/src/postgres-for-run.ts'],
          testTimeout: 30_000,
          hookTimeout: 120_000,
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: 'engine',
          include: ['{apps,packages}/*/test/**/*.engine.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: 'acceptance',
          include: ['tests/acceptance/**/*.acc.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          maxWorkers: 3,
        },
      },
    ],
  },
})
