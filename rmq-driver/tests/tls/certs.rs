//! Certificates, made when the tests run.

use std::sync::{Arc, LazyLock};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rmq_driver::rustls::RootCertStore;
use rmq_driver::rustls::pki_types::pem::PemObject;
use rmq_driver::rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub(crate) struct Leaf {
    pub(crate) pem: String,
    pub(crate) key: String,
}

impl Leaf {
    pub(crate) fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()]
    }

    pub(crate) fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap()
    }
}

pub(crate) struct Ca {
    pub(crate) pem: String,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Ca {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        Self { pem: issuer.pem(), issuer }
    }

    /// A certificate for these names and IP addresses.
    pub(crate) fn leaf(&self, names: &[&str]) -> Leaf {
        let params =
            CertificateParams::new(names.iter().copied().map(String::from).collect::<Vec<_>>()).unwrap();
        let key = KeyPair::generate().unwrap();
        Leaf { pem: params.signed_by(&key, &self.issuer).unwrap().pem(), key: key.serialize_pem() }
    }

    pub(crate) fn roots(&self) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        Arc::new(roots)
    }
}

/// Who signs what is trusted in these tests.
pub(crate) static OURS: LazyLock<Ca> = LazyLock::new(|| Ca::new("ours"));
/// And whom nobody trusts.
pub(crate) static STRANGER: LazyLock<Ca> = LazyLock::new(|| Ca::new("a stranger"));
/// A certificate of the name server and the broker of these tests.
pub(crate) static SERVER: LazyLock<Leaf> = LazyLock::new(|| OURS.leaf(&["names", "broker"]));
