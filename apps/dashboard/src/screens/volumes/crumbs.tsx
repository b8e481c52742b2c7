export interface CrumbsProps {
  /** Absolute. */
  readonly path: string
  readonly root: string
  readonly label: string
  readonly onPath: (path: string) => void
}

/** The folders above a path. */
export function Crumbs({ path, root, label, onPath }: CrumbsProps) {
  const names = path.split('/').filter((name) => name !== '')
  return (
    <nav class="crumbs" aria-label={label}>
      <button type="button" onClick={() => onPath('/')} aria-current={names.length === 0 ? 'page' : undefined}>
        {root}
      </button>
      {names.map((name, index) => {
        const at = `/${names.slice(0, index + 1).join('/')}`
        return (
          <span key={at}>
            <span aria-hidden="true">/</span>
            <button type="button" onClick={() => onPath(at)} aria-current={index === names.length - 1 ? 'page' : undefined}>
              {name}
            </button>
          </span>
        )
      })}
    </nav>
  )
}
