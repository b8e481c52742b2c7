export function TagList({ tags }: { readonly tags: readonly string[] }) {
  return (
    <span class="row">
      {tags.map((tag) => (
        <span key={tag} class="badge badge-plain">
          {tag}
        </span>
      ))}
    </span>
  )
}
