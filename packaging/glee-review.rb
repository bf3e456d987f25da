class GleeReview < Formula
  desc "@DESCRIPTION@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license "MIT"

@DOWNLOADS@
  def install
    bin.install "glee"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/glee.bash" => "glee"
    zsh_completion.install "completions/_glee"
    fish_completion.install "completions/glee.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/glee --version")
  end
end
