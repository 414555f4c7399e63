//! The shapes of well-known tokens: how each begins and what follows. To teach a new one, add a row.

/// How one kind of token looks.
pub(super) struct Shape {
    /// What it begins with, exactly.
    pub(super) prefix: &'static str,
    /// What the rest is made of.
    pub(super) body: Body,
    /// How much of that there must be.
    pub(super) least: usize,
}

/// What the rest of a token is made of.
#[derive(Clone, Copy)]
pub(super) enum Body {
    /// Letters and digits.
    Alnum,
    /// Capital letters and digits, this many and no more.
    CapitalsExactly,
    /// Lowercase hex digits.
    Hex,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters, digits, `_`, `-` and `.`; one dot at least.
    Dotted,
    /// Letters, digits, `_`, `-` and `/`.
    Path,
    /// Letters and digits, a digit among them.
    WithDigit,
}

impl Body {
    pub(super) const fn takes(self, byte: u8) -> bool {
        match self {
            Body::Alnum | Body::WithDigit => byte.is_ascii_alphanumeric(),
            Body::CapitalsExactly => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Body::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Body::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Body::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Body::Path => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'),
        }
    }
}

const fn shape(prefix: &'static str, body: Body, least: usize) -> Shape {
    Shape { prefix, body, least }
}

/// The shortest token that any shape describes.
pub(super) const SHORTEST: usize = 14;

/// All shapes that begin with this byte.
pub(super) fn beginning_with(byte: u8) -> &'static [Shape] {
    match byte {
        b'A' => &A,
        b'C' => &C,
        b'E' => &E,
        b'F' => &F,
        b'G' => &G,
        b'L' => &L,
        b'N' => &N,
        b'P' => &P,
        b'S' => &S,
        b'a' => &LOWER_A,
        b'd' => &LOWER_D,
        b'e' => &LOWER_E,
        b'f' => &LOWER_F,
        b'g' => &LOWER_G,
        b'h' => &LOWER_H,
        b'k' => &LOWER_K,
        b'l' => &LOWER_L,
        b'n' => &LOWER_N,
        b'p' => &LOWER_P,
        b'r' => &LOWER_R,
        b's' => &LOWER_S,
        b't' => &LOWER_T,
        b'v' => &LOWER_V,
        b'w' => &LOWER_W,
        b'x' => &LOWER_X,
        b'y' => &LOWER_Y,
        _ => &[],
    }
}

static A: [Shape; 11] = [
    shape("AKIA", Body::CapitalsExactly, 16), // AWS, long-lived
    shape("ASIA", Body::CapitalsExactly, 16), // AWS, temporary
    shape("ABIA", Body::CapitalsExactly, 16), // AWS, bearer
    shape("ACCA", Body::CapitalsExactly, 16), // AWS, context-specific
    shape("AIza", Body::Word, 30),            // Google API key
    shape("AGE-SECRET-KEY-1", Body::Alnum, 20),
    shape("AKCp", Body::Alnum, 40),  // Artifactory
    shape("ATATT3", Body::Word, 30), // Atlassian
    shape("ATBB", Body::Alnum, 28),  // Bitbucket
    shape("ATCTT3", Body::Word, 30), // Atlassian
    shape("AC", Body::Hex, 32),      // Twilio account
];
static C: [Shape; 1] = [shape("CCIPAT_", Body::Word, 20)]; // CircleCI
static E: [Shape; 3] = [
    shape("EAAA", Body::Word, 40),            // Square
    shape("EAACEdEose0cBA", Body::Alnum, 10), // Facebook
    shape("EZAK", Body::Alnum, 50),           // EasyPost
];
static F: [Shape; 1] = [shape("FlyV1", Body::Word, 30)];
static G: [Shape; 1] = [shape("GOCSPX-", Body::Word, 20)]; // Google client secret
static L: [Shape; 1] = [shape("LTAI", Body::Alnum, 16)]; // Alibaba
static N: [Shape; 2] = [shape("NRAK-", Body::Alnum, 20), shape("NRII-", Body::Word, 20)]; // New Relic
static P: [Shape; 1] = [shape("PMAK-", Body::Word, 30)]; // Postman
static S: [Shape; 2] = [
    shape("SG.", Body::Dotted, 30), // SendGrid
    shape("SK", Body::Hex, 32),     // Twilio
];
static LOWER_A: [Shape; 2] = [shape("api_org_", Body::Alnum, 20), shape("amzn.mws.", Body::Word, 30)];
static LOWER_D: [Shape; 9] = [
    shape("dop_v1_", Body::Hex, 32), // DigitalOcean
    shape("doo_v1_", Body::Hex, 32),
    shape("dor_v1_", Body::Hex, 32),
    shape("dapi", Body::Hex, 32),       // Databricks
    shape("dckr_pat_", Body::Word, 16), // Docker
    shape("dckr_oat_", Body::Word, 16),
    shape("dp.pt.", Body::Alnum, 20), // Doppler
    shape("dp.st.", Body::Dotted, 20),
    shape("dt0c01.", Body::Dotted, 24), // Dynatrace
];
static LOWER_E: [Shape; 1] = [shape("eyJ", Body::Dotted, 17)]; // JWT
static LOWER_F: [Shape; 2] = [shape("figd_", Body::Word, 30), shape("fo1_", Body::Word, 30)]; // Figma, Fly
static LOWER_G: [Shape; 18] = [
    shape("ghp_", Body::Alnum, 20), // GitHub: personal, OAuth, user-to-server, server-to-server, refresh
    shape("gho_", Body::Alnum, 20),
    shape("ghu_", Body::Alnum, 20),
    shape("ghs_", Body::Alnum, 20),
    shape("ghr_", Body::Alnum, 20),
    shape("github_pat_", Body::Word, 20),
    shape("glpat-", Body::Word, 16), // GitLab
    shape("gldt-", Body::Word, 16),
    shape("glrt-", Body::Word, 16),
    shape("glcbt-", Body::Word, 16),
    shape("glptt-", Body::Word, 16),
    shape("glft-", Body::Word, 16),
    shape("glsoat-", Body::Word, 16),
    shape("glagent-", Body::Word, 20),
    shape("gloas-", Body::Word, 20),
    shape("glsa_", Body::Word, 20), // Grafana
    shape("glc_", Body::Alnum, 30),
    shape("gsk_", Body::Alnum, 20), // Groq
];
static LOWER_H: [Shape; 4] = [
    shape("hf_", Body::Alnum, 20), // Hugging Face
    shape("hvs.", Body::Word, 20), // Vault
    shape("hvb.", Body::Word, 20),
    shape("hooks.slack.com/services/", Body::Path, 20),
];
static LOWER_K: [Shape; 1] = [shape("key-", Body::Hex, 32)]; // Mailgun
static LOWER_L: [Shape; 3] = [
    shape("lin_api_", Body::Alnum, 20), // Linear
    shape("lsv2_", Body::Word, 30),     // LangSmith
    shape("live_", Body::WithDigit, 24),
];
static LOWER_N: [Shape; 3] = [
    shape("npm_", Body::Alnum, 30),
    shape("ntn_", Body::Alnum, 30), // Notion
    shape("nfp_", Body::Alnum, 30), // Netlify
];
static LOWER_P: [Shape; 6] = [
    shape("pypi-AgE", Body::Word, 16),
    shape("pplx-", Body::Alnum, 30), // Perplexity
    shape("phc_", Body::Alnum, 30),  // PostHog
    shape("phx_", Body::Alnum, 30),
    shape("pul-", Body::Hex, 40),   // Pulumi
    shape("pnu_", Body::Alnum, 30), // Prefect
];
static LOWER_R: [Shape; 4] = [
    shape("rk_live_", Body::Alnum, 10), // Stripe, restricted
    shape("rk_test_", Body::Alnum, 10),
    shape("rubygems_", Body::Hex, 40),
    shape("r8_", Body::Alnum, 30), // Replicate
];
static LOWER_S: [Shape; 17] = [
    shape("sk_live_", Body::Alnum, 10), // Stripe
    shape("sk_test_", Body::Alnum, 10),
    shape("sk-ant-", Body::Word, 16),  // Anthropic
    shape("sk-proj-", Body::Word, 16), // OpenAI
    shape("sk-svcacct-", Body::Word, 16),
    shape("sk-admin-", Body::Word, 16),
    shape("sk-or-v1-", Body::Word, 16),
    shape("sk-", Body::WithDigit, 20),
    shape("secret_", Body::WithDigit, 40), // Notion
    shape("shpat_", Body::Alnum, 24),      // Shopify
    shape("shpca_", Body::Alnum, 24),
    shape("shppa_", Body::Alnum, 24),
    shape("shpss_", Body::Alnum, 24),
    shape("sntrys_", Body::Word, 30), // Sentry
    shape("sntryu_", Body::Word, 30),
    shape("sbp_", Body::Hex, 30), // Supabase
    shape("sq0", Body::Word, 20), // Square
];
static LOWER_T: [Shape; 2] = [shape("tskey-", Body::Word, 16), shape("tfp_", Body::Word, 30)]; // Tailscale, Typeform
static LOWER_V: [Shape; 1] = [shape("vercel_", Body::WithDigit, 20)];
static LOWER_W: [Shape; 1] = [shape("whsec_", Body::Alnum, 16)]; // Stripe webhooks
static LOWER_X: [Shape; 12] = [
    shape("xoxb-", Body::Word, 10), // Slack
    shape("xoxp-", Body::Word, 10),
    shape("xoxa-", Body::Word, 10),
    shape("xoxr-", Body::Word, 10),
    shape("xoxs-", Body::Word, 10),
    shape("xoxe-", Body::Word, 10),
    shape("xoxc-", Body::Word, 10),
    shape("xoxd-", Body::Word, 10),
    shape("xoxe.", Body::Dotted, 10),
    shape("xapp-", Body::Word, 10),
    shape("xkeysib-", Body::Word, 20), // Brevo
    shape("xai-", Body::Alnum, 30),
];
static LOWER_Y: [Shape; 1] = [shape("ya29.", Body::Dotted, 20)]; // Google OAuth

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_found_by_its_first_byte_and_is_long_enough() {
        let mut count = 0;
        for first in 0..=255 {
            for shape in beginning_with(first) {
                count += 1;
                assert_eq!(shape.prefix.bytes().next(), Some(first), "{}", shape.prefix);
                assert!(shape.prefix.len() + shape.least >= SHORTEST, "{}", shape.prefix);
            }
        }
        assert!(count > 90, "{count}");
    }
}
