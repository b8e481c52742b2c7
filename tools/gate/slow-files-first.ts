import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { ROOT } from './run-command.ts'

/** Test files that take half a minute or longer on two processors, the longest of a stage first. */
export const SLOW_FILES: readonly string[] = [
  'apps/api/test/crash-steps.int.test.ts',
  'apps/api/test/webhook-delivery.int.test.ts',
  'apps/daemon/test/process-native.int.test.ts',
  'apps/daemon/test/process-stamina.int.test.ts',
  'apps/api/test/ready-made.int.test.ts',
  'apps/standalone/test/start-failures.int.test.ts',
  'apps/api/test/database-outage.int.test.ts',
  'packages/backup/test/tables.int.test.ts',
  'apps/proxy/test/attacks.int.test.ts',
  'apps/api/test/repairs.int.test.ts',

  'packages/runtime-docker/test/hanging.engine.test.ts',
  'apps/cli/test/backup.engine.test.ts',
  'packages/runtime-docker/test/contract.engine.test.ts',
  'apps/api/test/build-engine.engine.test.ts',
  'packages/runtime-docker/test/policies.engine.test.ts',
  'apps/standalone/test/server.engine.test.ts',
  'packages/runtime-docker/test/recovery.engine.test.ts',
  'packages/runtime-docker/test/guard.engine.test.ts',
  'apps/standalone/test/egress-gateway.engine.test.ts',
  'packages/runtime-docker/test/volumes.engine.test.ts',
  'apps/api/test/company-proxy.engine.test.ts',
  'apps/standalone/test/processes.engine.test.ts',
  'packages/runtime-docker/test/changes.engine.test.ts',
  'packages/runtime-docker/test/pull.engine.test.ts',
  'packages/runtime-docker/test/dockerfile.engine.test.ts',
  'apps/api/test/build-start-command.engine.test.ts',
  'packages/runtime-docker/test/pausing.engine.test.ts',
  'apps/api/test/egress.engine.test.ts',
  'packages/runtime-docker/test/egress.engine.test.ts',
  'packages/runtime-docker/test/snapshot-chain.engine.test.ts',
  'apps/daemon/test/image-tool.engine.test.ts',
  'apps/api/test/dashboard/recordings-changes.engine.test.ts',
  'packages/runtime-docker/test/builder-egress.engine.test.ts',
  'packages/runtime-docker/test/stuck-start.engine.test.ts',

  'tests/acceptance/templates/start-command.acc.test.ts',
  'tests/acceptance/templates/steps.acc.test.ts',
  'tests/acceptance/http/generated-clients.acc.test.ts',
  'tests/acceptance/http/templates.acc.test.ts',
  'tests/acceptance/templates/python.acc.test.ts',
  'tests/acceptance/restart.acc.test.ts',
  'tests/acceptance/templates/cache.acc.test.ts',
  'tests/acceptance/sandyard.acc.test.ts',
  'tests/acceptance/templates/installers.acc.test.ts',
  'tests/acceptance/sandboxes/warm-pool.acc.test.ts',
  'tests/acceptance/sandboxes/snapshots.acc.test.ts',
  'tests/acceptance/sandboxes/pause-files.acc.test.ts',
  'tests/acceptance/sandboxes/metrics.acc.test.ts',
  'tests/acceptance/clients.acc.test.ts',
  'tests/acceptance/sandboxes/python.acc.test.ts',

  'tests/browser/screens.browser.test.ts',
  'tests/browser/changes-recordings.browser.test.ts',
  'tests/browser/list.browser.test.ts',
  'tests/browser/terminal.browser.test.ts',
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
