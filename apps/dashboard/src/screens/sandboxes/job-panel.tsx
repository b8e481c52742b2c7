import type { Job } from '@sandyard/dashboard-contract/sandboxes'
import { paths } from '../../frame/paths.ts'
import { useTopic } from '../../live/use-topic.ts'
import { Icon } from '../../parts/icon.tsx'
import { Meter } from '../../parts/meter.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { sandboxesTexts as texts } from '../../texts/sandboxes-texts.ts'

const takeNewest = (_former: Job, job: Job): Job => job

export interface JobPanelProps {
  readonly jobId: string
  readonly onClose: () => void
}

/** A bulk action while it runs, and what did not work. */
export function JobPanel({ jobId, onClose }: JobPanelProps) {
  const { value: job, failure } = useTopic<'job'>(`job:${jobId}`, takeNewest)
  const left = job?.items.filter(({ status }) => status === 'failed' || status === 'skipped') ?? []
  return (
    <section class="panel job" aria-label={job === undefined ? jobId : texts.jobText(texts.job[job.action], job.total)}>
      <div class="panel-head">
        {job === undefined ? (
          <p role="status">{failure?.message ?? '…'}</p>
        ) : (
          <>
            <StateBadge state={job.status} />
            <h2>{texts.jobText(texts.job[job.action], job.total)}</h2>
            <Meter share={job.total === 0 ? 1 : (job.done + job.failed) / job.total} isProgress />
            <span class="muted" role="status">
              {texts.jobProgress(job.done, job.total, job.failed)}
            </span>
          </>
        )}
        <div class="actions">
          <button type="button" class="button button-small button-icon button-quiet" aria-label={texts.dismiss} onClick={onClose}>
            <Icon name="close" />
          </button>
        </div>
      </div>
      {left.length > 0 && (
        <details class="panel-body" open>
          <summary>{texts.jobDetails}</summary>
          <ul class="job-items">
            {left.map(({ sandboxId, status, message }) => (
              <li key={sandboxId} class="row">
                <StateBadge state={status} />
                <a class="mono" href={paths.sandbox(sandboxId)}>
                  {sandboxId}
                </a>
                <span class="muted">{message}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}
