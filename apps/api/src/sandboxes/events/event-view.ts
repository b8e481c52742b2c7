import type { LifecycleEvent, SandboxEvent } from '@sandyard/api-contract/events/sandbox-event'
import type { DescribedEvent } from './describe-events.ts'
import { lifecycleType } from './lifecycle-events.ts'

const VERSION = 'v1'

/** An event as the log has it. */
export function toSandboxEvent(event: DescribedEvent, place: number): SandboxEvent {
  return { ...toFields(event), type: event.kind, eventData: { ...event.data }, place }
}

/** An event as clients of the events interface know it: ends and pauses have the run that they ended (dashboard-and-cli.md 2.1). */
export function toLifecycleEvent(event: DescribedEvent): LifecycleEvent {
  const type = lifecycleType(event.kind)
  const { actor, reason, endAt } = event.data
  const eventData = {
    ...(actor !== undefined && { actor }),
    ...(reason !== undefined && { reason }),
    ...(typeof endAt === 'string' && { set_timeout: endAt }),
    sandbox_metadata: event.sandbox.metadata,
    ...(type === 'sandbox.lifecycle.killed' || type === 'sandbox.lifecycle.paused' ? { execution: toExecution(event) } : {}),
  }
  return { ...toFields(event), type, eventData }
}

function toFields(event: DescribedEvent): Omit<LifecycleEvent, 'type' | 'eventData'> {
  return {
    id: String(event.eventId),
    version: VERSION,
    timestamp: event.at.toISOString(),
    sandboxId: event.sandboxId,
    sandboxExecutionId: `${event.sandboxId}-${event.run}`,
    sandboxTemplateId: event.sandbox.templateId,
    sandboxBuildId: event.sandbox.buildId,
    sandboxTeamId: event.teamId,
  }
}

/** `execution_time` is in milliseconds. */
function toExecution({ sandbox, startedAt, at }: DescribedEvent): Record<string, unknown> {
  return {
    ...(startedAt !== null && { started_at: startedAt.toISOString(), execution_time: at.getTime() - startedAt.getTime() }),
    vcpu_count: sandbox.cpuCount,
    memory_mb: sandbox.memoryMib,
  }
}
