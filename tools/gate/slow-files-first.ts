import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { ROOT } from './run-command.ts'

/** Test files that take half a minute or longer, the longest of a stage first. */
export const SLOW_FILES: readonly string[] = [
  'apps/api/test/crash-steps.int.test.ts',
  'apps/api/test/lifecycle-crash.int.test.ts',
  'apps/daemon/test/process-native.int.test.ts',
  'apps/api/test/database-outage.int.test.ts',
  'apps/api/test/build-crash.int.test.ts',
  'apps/api/test/http-rules.int.test.ts',

  'packages/runtime-docker/test/hanging.engine.test.ts',
  'packages/runtime-docker/test/contract.engine.test.ts',
  'apps/api/test/build-engine.engine.test.ts',
  'apps/standalone/test/server.engine.test.ts',
  'apps/api/test/build-dockerfile.engine.test.ts',
  'packages/runtime-docker/test/guard.engine.test.ts',
  'packages/runtime-docker/test/egress.engine.test.ts',
  'packages/runtime-docker/test/recovery.engine.test.ts',
  'apps/standalone/test/egress-gateway.engine.test.ts',
  'packages/runtime-docker/test/policies.engine.test.ts',
  'apps/api/test/company-proxy.engine.test.ts',
  'apps/cli/test/backup.engine.test.ts',
  'apps/api/test/build-start-command.engine.test.ts',
  'packages/runtime-docker/test/snapshot-chain.engine.test.ts',
  'packages/runtime-docker/test/pull.engine.test.ts',

  'tests/acceptance/templates/steps.acc.test.ts',
  'tests/acceptance/restart.acc.test.ts',
  'tests/acceptance/http/templates.acc.test.ts',
  'tests/acceptance/templates/start-command.acc.test.ts',
  'tests/acceptance/sandboxes/snapshots.acc.test.ts',
  'tests/acceptance/templates/cache.acc.test.ts',
  'tests/acceptance/templates/python.acc.test.ts',
]

/** Starts slow files first, so that no worker waits at the end of a stage for one of them. Where nothing ran before, vitest knows only sizes. */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = SLOW_FILES.indexOf(relative(ROOT, moduleId))
      return at === -1 ? SLOW_FILES.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
